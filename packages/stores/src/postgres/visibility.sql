-- Who sees a document depends on its collection (NULL for the default one) and its conversation. These were fields of the
-- metadata; `metadata` still has a row for the collection, which clients filter by like any other field.
ALTER TABLE documents ADD COLUMN collection text COLLATE "C", ADD COLUMN conversation text COLLATE "C";
ALTER TABLE replacements ADD COLUMN collection text COLLATE "C";

UPDATE documents SET collection = nullif(metadata::jsonb ->> 'collection', 'default'),
    metadata = (metadata::jsonb - 'collection')::text
  WHERE jsonb_typeof(metadata::jsonb -> 'collection') = 'string';
UPDATE documents SET conversation = metadata::jsonb ->> '~conversation',
    metadata = (metadata::jsonb - '~conversation')::text
  WHERE jsonb_typeof(metadata::jsonb -> '~conversation') = 'string';
UPDATE replacements SET collection = nullif(metadata::jsonb ->> 'collection', 'default'),
    metadata = (metadata::jsonb - 'collection')::text
  WHERE jsonb_typeof(metadata::jsonb -> 'collection') = 'string';
UPDATE replacements SET metadata = (metadata::jsonb - '~conversation')::text
  WHERE metadata::jsonb ? '~conversation';
DELETE FROM metadata WHERE name = '~conversation' OR (name = 'collection' AND string = 'default');

CREATE INDEX documents_of_collection ON documents (collection, number) WHERE collection IS NOT NULL;
CREATE INDEX documents_of_conversation ON documents (conversation) WHERE conversation IS NOT NULL;
