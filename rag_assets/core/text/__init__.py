"""How every stage reads text: sentences, tokens, folding for comparison, and display."""
