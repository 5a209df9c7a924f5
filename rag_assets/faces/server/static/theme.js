// Light, dark, or as the system has it.

const KEY = "rag_assets theme";
const NEXT = { auto: "light", light: "dark", dark: "auto" };

/** The button goes through the three in turn; the choice is kept in this browser. */
export function startTheme(button) {
  const set = (theme) => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    localStorage.setItem(KEY, theme);
  };
  const kept = localStorage.getItem(KEY);
  set(kept in NEXT ? kept : "auto");
  button.addEventListener("click", () => set(NEXT[document.documentElement.dataset.theme]));
}
