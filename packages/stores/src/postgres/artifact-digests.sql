-- The SHA-256 digest of the bytes; absent in those of earlier versions. Once released, this file is never changed: see
-- `migrate.ts`.

ALTER TABLE artifacts ADD COLUMN digest text;
