"""The check in a page of a browser, without a server; the page itself is `plugin/browser_page`."""
