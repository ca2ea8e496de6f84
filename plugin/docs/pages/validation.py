"""Validation."""
from docs.pages.markdown import Page, page, title
def pages():
    yield page("validation/index", title("Validation"), "To come.")
    yield page("validation/reference", title("Ref"), "To come.", orphan=True)
