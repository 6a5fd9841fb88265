"""More judgments than memory holds: a database engine reads the files, and gives back cells instead of rows."""
