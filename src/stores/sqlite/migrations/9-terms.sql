-- In how many chunks of a document each term stands, for an index that cannot tell. Triggers enter what comes and what
-- goes, in the transaction that serves or removes it; the sum of the entries is that of all documents. Terms are 32-bit
-- numbers, little-endian.

CREATE TABLE document_terms (
  document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
  analyser TEXT NOT NULL,
  chunks INTEGER NOT NULL,
  length INTEGER NOT NULL,
  terms BLOB NOT NULL,
  holding BLOB NOT NULL,
  PRIMARY KEY (document, analyser)
) STRICT;

CREATE TABLE term_entries (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  analyser TEXT NOT NULL,
  sign INTEGER NOT NULL,
  chunks INTEGER NOT NULL,
  length INTEGER NOT NULL,
  terms BLOB NOT NULL,
  holding BLOB NOT NULL
) STRICT;
CREATE INDEX term_entries_of_analyser ON term_entries (analyser);

CREATE TRIGGER terms_counted AFTER INSERT ON document_terms BEGIN
  INSERT INTO term_entries (analyser, sign, chunks, length, terms, holding)
  VALUES (new.analyser, 1, new.chunks, new.length, new.terms, new.holding);
END;
CREATE TRIGGER terms_removed AFTER DELETE ON document_terms BEGIN
  INSERT INTO term_entries (analyser, sign, chunks, length, terms, holding)
  VALUES (old.analyser, -1, old.chunks, old.length, old.terms, old.holding);
END;
CREATE TRIGGER terms_superseded AFTER UPDATE OF served_revision ON documents
WHEN new.served_revision IS NOT old.served_revision BEGIN
  DELETE FROM document_terms WHERE document = new.number;
END;
