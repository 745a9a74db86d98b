-- The id of the key or person that named the collection; empty for the operator. Once released, this file is never changed:
-- see `migrate.ts`.

ALTER TABLE collection_names ADD COLUMN owner TEXT NOT NULL DEFAULT '';
