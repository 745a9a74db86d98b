/**
 * What a version after this one may do to the data: a new table, a new column that is filled, and an index that is made
 * anew. Both databases understand it.
 */
export const NEXT = `CREATE TABLE next_things (name text NOT NULL);
INSERT INTO next_things VALUES ('made');
ALTER TABLE documents ADD COLUMN words integer;
UPDATE documents SET words = (SELECT length(text) FROM contents WHERE contents.document = documents.number);
DROP INDEX documents_of_status;
CREATE INDEX documents_of_status ON documents (status, words, number);`

/** How a document is seen whichever version it is of, which is not at all if only a part was moved. */
export const DOCUMENTS = `SELECT id, text, digest FROM documents JOIN contents ON document = number ORDER BY id`
