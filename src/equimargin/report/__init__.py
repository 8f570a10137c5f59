"""The view model of a comparison with its faces: terminal page, wide table, pages for a browser, records."""
