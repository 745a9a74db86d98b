-- Who sees a document depends on its collection (NULL for the default one) and its conversation. These were fields of the
-- metadata; `metadata` still has a row for the collection, which clients filter by like any other field.
ALTER TABLE documents ADD COLUMN collection TEXT;
ALTER TABLE documents ADD COLUMN conversation TEXT;
ALTER TABLE replacements ADD COLUMN collection TEXT;

UPDATE documents SET collection = nullif(json_extract(metadata, '$.collection'), 'default'),
    metadata = json_remove(metadata, '$.collection')
  WHERE json_type(metadata, '$.collection') = 'text';
UPDATE documents SET conversation = json_extract(metadata, '$."~conversation"'),
    metadata = json_remove(metadata, '$."~conversation"')
  WHERE json_type(metadata, '$."~conversation"') = 'text';
UPDATE replacements SET collection = nullif(json_extract(metadata, '$.collection'), 'default'),
    metadata = json_remove(metadata, '$.collection')
  WHERE json_type(metadata, '$.collection') = 'text';
UPDATE replacements SET metadata = json_remove(metadata, '$."~conversation"')
  WHERE json_type(metadata, '$."~conversation"') = 'text';
DELETE FROM metadata WHERE name = '~conversation' OR (name = 'collection' AND string = 'default');

CREATE INDEX documents_of_collection ON documents (collection, number) WHERE collection IS NOT NULL;
CREATE INDEX documents_of_conversation ON documents (conversation) WHERE conversation IS NOT NULL;
