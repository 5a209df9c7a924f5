"""One module per kind of thing, each with a `router`; `app.ROUTERS` lists them."""
