-- A database as version 1 of the schema left it. Never changed: it stands for people's disks.
PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE chunks (
    key INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (number),
    revision INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
INSERT INTO "chunks" VALUES(1,1,1,0,11,28,'Löschen','Der erste Absatz.');
INSERT INTO "chunks" VALUES(2,1,1,1,30,44,'Löschen','Der zweite 👋.');
CREATE TABLE contents (
    document INTEGER NOT NULL REFERENCES documents (number),
    revision INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (document, revision)
  ) STRICT;
INSERT INTO "contents" VALUES(1,1,'# Löschen

Der erste Absatz.

Der zweite 👋.');
INSERT INTO "contents" VALUES(2,1,'A text whose embedder was down');
INSERT INTO "contents" VALUES(3,1,'A text that was being read when the server ended');
INSERT INTO "contents" VALUES(4,1,'A text to be tried again later');
INSERT INTO "contents" VALUES(5,1,'A text that waits');
CREATE TABLE counts (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO "counts" VALUES('chunks',2);
INSERT INTO "counts" VALUES('failed',1);
INSERT INTO "counts" VALUES('jobs',3);
INSERT INTO "counts" VALUES('pending',2);
INSERT INTO "counts" VALUES('processing',1);
INSERT INTO "counts" VALUES('ready',1);
CREATE TABLE documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    title TEXT,
    url TEXT,
    status TEXT NOT NULL,
    error_code TEXT,
    error_message TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 1,
    chunk_count INTEGER NOT NULL DEFAULT 0,
    characters INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
INSERT INTO "documents" VALUES(1,'doc_ready','Löschen','https://example.org/loeschen','ready',NULL,NULL,1,1,2,44,1750000000035,1750000000044);
INSERT INTO "documents" VALUES(2,'doc_failed',NULL,NULL,'failed','upstream_failed','The embedder did not answer',1,1,0,30,1750000000037,1750000000044);
INSERT INTO "documents" VALUES(3,'doc_processing','Half done',NULL,'processing',NULL,NULL,1,1,0,48,1750000000038,1750000000042);
INSERT INTO "documents" VALUES(4,'doc_delayed',NULL,NULL,'pending','upstream_timeout','The embedder took too long',1,1,0,30,1750000000039,1750000000045);
INSERT INTO "documents" VALUES(5,'doc_pending',NULL,NULL,'pending',NULL,NULL,0,1,0,17,1750000000039,1750000000039);
CREATE TABLE jobs (
    document INTEGER PRIMARY KEY REFERENCES documents (number),
    revision INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    claim INTEGER
  ) STRICT;
INSERT INTO "jobs" VALUES(3,1,1750000000038,3);
INSERT INTO "jobs" VALUES(4,1,4102444800000,NULL);
INSERT INTO "jobs" VALUES(5,1,1750000000039,NULL);
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('last_check',0);
INSERT INTO "meta" VALUES('last_claim',4);
INSERT INTO "meta" VALUES('next_chunk_key',4097);
CREATE INDEX documents_of_status ON documents (status, number);
CREATE INDEX jobs_waiting ON jobs (run_at, document) WHERE claim IS NULL;
CREATE INDEX jobs_claimed ON jobs (claim) WHERE claim IS NOT NULL;
CREATE UNIQUE INDEX chunks_of_document ON chunks (document, revision, ordinal);
CREATE TRIGGER document_added AFTER INSERT ON documents BEGIN
    UPDATE counts SET value = value + 1 WHERE name = new.status;
  END;
CREATE TRIGGER document_removed AFTER DELETE ON documents BEGIN
    UPDATE counts SET value = value - 1 WHERE name = old.status;
    UPDATE counts SET value = value - old.chunk_count WHERE name = 'chunks';
  END;
CREATE TRIGGER document_moved AFTER UPDATE OF status ON documents
  WHEN new.status <> old.status BEGIN
    UPDATE counts SET value = value - 1 WHERE name = old.status;
    UPDATE counts SET value = value + 1 WHERE name = new.status;
  END;
CREATE TRIGGER document_chunked AFTER UPDATE OF chunk_count ON documents
  WHEN new.chunk_count <> old.chunk_count BEGIN
    UPDATE counts SET value = value + new.chunk_count - old.chunk_count WHERE name = 'chunks';
  END;
CREATE TRIGGER job_added AFTER INSERT ON jobs BEGIN
    UPDATE counts SET value = value + 1 WHERE name = 'jobs';
  END;
CREATE TRIGGER job_removed AFTER DELETE ON jobs BEGIN
    UPDATE counts SET value = value - 1 WHERE name = 'jobs';
  END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('documents',6);
COMMIT;
PRAGMA application_id = 1097290614;
PRAGMA user_version = 1;
