-- Finds documents with the same file; `fileDigest` in `dialect.ts` is the same expression.
CREATE INDEX documents_file_digest ON documents (json_extract(file, '$.sha256'))
WHERE json_extract(file, '$.sha256') IS NOT NULL;
