-- Finds documents with the same file; `fileDigest` in `dialect.ts` is the same expression.
CREATE INDEX documents_file_digest ON documents ((file::jsonb ->> 'sha256'))
WHERE (file::jsonb ->> 'sha256') IS NOT NULL;
