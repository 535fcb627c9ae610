"""Sources of data: the catalogue that lists them, and the download of their files."""
