-- Judged questions, and what was measured with them. Once released, this file is never changed: see `migrate.ts`.

CREATE TABLE judged_questions (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE evaluation_runs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  json TEXT NOT NULL,
  asked INTEGER NOT NULL,
  total INTEGER NOT NULL,
  error TEXT,
  report TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
