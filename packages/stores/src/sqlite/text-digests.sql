-- The SHA-256 digest of the text in UTF-8; absent in those of earlier versions.
ALTER TABLE contents ADD COLUMN digest TEXT;
