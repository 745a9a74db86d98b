-- Tables are few among documents, and asked for by name; `isTable` is the same condition.

CREATE INDEX documents_tables ON documents (number)
WHERE lower(substr(coalesce(json_extract(file, '$.name'), title), -4))
  IN ('.csv', '.tsv', 'xlsx', 'quet', 'sonl', 'json');
