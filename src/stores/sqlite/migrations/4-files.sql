-- A file without a document is one that is being sent. In pieces, so that none is ever in memory whole.

ALTER TABLE documents ADD COLUMN file TEXT;
ALTER TABLE replacements ADD COLUMN file TEXT;
ALTER TABLE chunks ADD COLUMN page INTEGER;
ALTER TABLE chunks ADD COLUMN page_end INTEGER;

CREATE TABLE files (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER REFERENCES documents (number),
  revision INTEGER
) STRICT;
CREATE UNIQUE INDEX files_of_document ON files (document, revision);

CREATE TABLE file_pieces (
  file INTEGER NOT NULL REFERENCES files (number) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (file, ordinal)
) STRICT;
