-- What was measured with the judged questions. Once released, this file is never changed: see `migrate.ts`.

CREATE TABLE evaluations (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  json TEXT NOT NULL,
  asked INTEGER NOT NULL,
  total INTEGER NOT NULL,
  error TEXT,
  measures TEXT,
  report TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
