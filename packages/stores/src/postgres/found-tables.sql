-- Files of other kinds may have tables, too; `isTable` in `lookup.ts` is the same condition.
DROP INDEX documents_tables;
CREATE INDEX documents_tables ON documents (number)
WHERE lower("right"(coalesce(file::jsonb ->> 'name', title), 4)) IN ('.csv', '.tsv', 'xlsx', 'quet', 'sonl', 'json')
  OR (file::jsonb #> '{notes,tables}') IS NOT NULL;
