-- A database as version 8 of the schema left it. Never changed: it stands for people's disks.
PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE announcements (
    document INTEGER PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
    id TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    status TEXT NOT NULL,
    error_code TEXT,
    error_message TEXT,
    ended_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL
  ) STRICT;
INSERT INTO "announcements" VALUES(11,'msg_6f1d',1,'failed','empty_document','The text holds nothing but blanks',1700000001000,2,1700000001000);
CREATE TABLE chunks (
    key INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (number),
    revision INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL
  , page INTEGER, page_end INTEGER) STRICT;
INSERT INTO "chunks" VALUES(1,1,1,0,11,28,'Löschen','Der erste Absatz.',NULL,NULL);
INSERT INTO "chunks" VALUES(2,1,1,1,30,44,'Löschen','Der zweite 👋.',NULL,NULL);
INSERT INTO "chunks" VALUES(4098,8,2,0,0,6,'','Second',NULL,NULL);
INSERT INTO "chunks" VALUES(8193,9,1,0,0,9,'','Page text',2,3);
INSERT INTO "chunks" VALUES(8200,10,1,0,0,7,'','a: 1; b',NULL,NULL);
INSERT INTO "chunks" VALUES(8201,10,1,1,8,9,'','2',NULL,NULL);
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
INSERT INTO "contents" VALUES(1,2,'Der neue Text.');
INSERT INTO "contents" VALUES(7,1,'A text sent twice');
INSERT INTO "contents" VALUES(8,2,'Second');
INSERT INTO "contents" VALUES(9,1,'Page text');
INSERT INTO "contents" VALUES(10,1,'');
INSERT INTO "contents" VALUES(11,1,'    ');
CREATE TABLE counts (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO "counts" VALUES('chunks',5);
INSERT INTO "counts" VALUES('failed',2);
INSERT INTO "counts" VALUES('jobs',5);
INSERT INTO "counts" VALUES('pending',5);
INSERT INTO "counts" VALUES('processing',0);
INSERT INTO "counts" VALUES('ready',3);
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
  , metadata TEXT, served_revision INTEGER, file TEXT) STRICT;
INSERT INTO "documents" VALUES(1,'doc_ready','Löschen','https://example.org/loeschen','pending',NULL,NULL,1,2,2,44,1750000000035,1795248206952,NULL,1,NULL);
INSERT INTO "documents" VALUES(2,'doc_failed',NULL,NULL,'failed','upstream_failed','The embedder did not answer',1,1,0,30,1750000000037,1750000000044,NULL,NULL,NULL);
INSERT INTO "documents" VALUES(3,'doc_processing','Half done',NULL,'pending',NULL,NULL,1,1,0,48,1750000000038,1795248206820,NULL,NULL,NULL);
INSERT INTO "documents" VALUES(4,'doc_delayed',NULL,NULL,'pending','upstream_timeout','The embedder took too long',1,1,0,30,1750000000039,1750000000045,NULL,NULL,NULL);
INSERT INTO "documents" VALUES(5,'doc_pending',NULL,NULL,'pending',NULL,NULL,1,1,0,17,1750000000039,1795248206903,NULL,NULL,NULL);
INSERT INTO "documents" VALUES(7,'doc_keyed',NULL,NULL,'pending',NULL,NULL,1,1,0,17,1795248206135,1795248207003,'{"language":"en","half":0.5}',NULL,NULL);
INSERT INTO "documents" VALUES(8,'doc_replaced',NULL,NULL,'ready',NULL,NULL,1,2,1,6,1795248206231,1795248206756,'{"version":2}',2,NULL);
INSERT INTO "documents" VALUES(9,'doc_file','Report',NULL,'ready',NULL,NULL,1,1,1,9,1795250000000,1795250000001,NULL,1,'{"name":"report.pdf","mediaType":"application/pdf","size":6}');
INSERT INTO "documents" VALUES(10,'doc_table','Tides',NULL,'ready',NULL,NULL,1,1,2,9,1700000000000,1700000000000,NULL,1,'{"name":"tides.csv","mediaType":"text/csv","size":9}');
INSERT INTO "documents" VALUES(11,'doc_told',NULL,NULL,'failed','empty_document','The text holds nothing but blanks',1,1,0,4,1700000000000,1700000001000,NULL,NULL,NULL);
CREATE TABLE embeddings (
    vectors TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO "embeddings" VALUES('current','model-a',2);
INSERT INTO "embeddings" VALUES('next','model-b',3);
CREATE TABLE file_pieces (
    file INTEGER NOT NULL REFERENCES files (number) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (file, ordinal)
  ) STRICT;
INSERT INTO "file_pieces" VALUES(1,0,X'255044');
INSERT INTO "file_pieces" VALUES(1,1,X'462D31');
INSERT INTO "file_pieces" VALUES(2,0,X'00');
INSERT INTO "file_pieces" VALUES(3,0,X'4E6575');
INSERT INTO "file_pieces" VALUES(4,0,X'612C620A312C320A0A');
CREATE TABLE files (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER REFERENCES documents (number),
    revision INTEGER
  ) STRICT;
INSERT INTO "files" VALUES(1,9,1);
INSERT INTO "files" VALUES(2,NULL,NULL);
INSERT INTO "files" VALUES(3,1,2);
INSERT INTO "files" VALUES(4,10,1);
CREATE TABLE idempotency_keys (
    key TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (number)
  ) STRICT, WITHOUT ROWID;
INSERT INTO "idempotency_keys" VALUES('order-1','digest',7);
CREATE TABLE jobs (
    document INTEGER PRIMARY KEY REFERENCES documents (number),
    revision INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    claim INTEGER
  ) STRICT;
INSERT INTO "jobs" VALUES(1,2,1795248206082,NULL);
INSERT INTO "jobs" VALUES(3,1,1750000000038,NULL);
INSERT INTO "jobs" VALUES(4,1,4102444800000,NULL);
INSERT INTO "jobs" VALUES(5,1,1750000000039,NULL);
INSERT INTO "jobs" VALUES(7,1,1795248206135,NULL);
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('announcing',1);
INSERT INTO "meta" VALUES('identity',3382199201686132);
INSERT INTO "meta" VALUES('last_check',0);
INSERT INTO "meta" VALUES('last_claim',9);
INSERT INTO "meta" VALUES('next_chunk_key',12289);
INSERT INTO "meta" VALUES('vectors_generation',1);
CREATE TABLE metadata (
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    value ANY NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (number),
    PRIMARY KEY (name, kind, value, document)
  ) STRICT, WITHOUT ROWID;
INSERT INTO "metadata" VALUES('half','number',0.5,7);
INSERT INTO "metadata" VALUES('language','string','en',7);
INSERT INTO "metadata" VALUES('version','number',2,8);
CREATE TABLE next_vectors (
    key INTEGER PRIMARY KEY REFERENCES chunks (key) ON DELETE CASCADE,
    vector BLOB NOT NULL
  ) STRICT;
INSERT INTO "next_vectors" VALUES(1,X'003C00000000');
CREATE TABLE replacements (
    document INTEGER PRIMARY KEY REFERENCES documents (number),
    title TEXT,
    url TEXT,
    metadata TEXT,
    characters INTEGER NOT NULL
  , file TEXT) STRICT;
INSERT INTO "replacements" VALUES(1,'Neu',NULL,'{"year":2026,"open":true}',14,'{"name":"neu.txt","mediaType":"text/plain","size":3}');
CREATE TABLE vectors (
    key INTEGER PRIMARY KEY REFERENCES chunks (key) ON DELETE CASCADE,
    vector BLOB NOT NULL
  ) STRICT;
INSERT INTO "vectors" VALUES(1,X'CD38663A');
INSERT INTO "vectors" VALUES(2,X'0000003C');
CREATE TABLE sources (
  document INTEGER PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
  source TEXT NOT NULL,
  fetch_at INTEGER
) STRICT;
INSERT INTO "sources" VALUES(1,'{"url":"https://example.org/loeschen","refresh":"1d","fetchedAt":1700000000000,"status":200,"failures":0,"dueAt":1700086400000,"digest":"d"}',1700086400000);
CREATE INDEX documents_of_status ON documents (status, number);
CREATE INDEX jobs_waiting ON jobs (run_at, document) WHERE claim IS NULL;
CREATE INDEX jobs_claimed ON jobs (claim) WHERE claim IS NOT NULL;
CREATE INDEX sources_due ON sources (fetch_at) WHERE fetch_at IS NOT NULL;
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
CREATE INDEX idempotency_keys_of_document ON idempotency_keys (document);
CREATE INDEX metadata_of_document ON metadata (document);
CREATE TRIGGER metadata_added AFTER INSERT ON documents
  WHEN new.metadata IS NOT NULL BEGIN
    INSERT INTO metadata (name, kind, value, document)
    SELECT key,
      CASE WHEN type = 'text' THEN 'string' WHEN type IN ('true', 'false') THEN 'boolean' ELSE 'number' END,
      value, new.number
    FROM json_each(new.metadata);
  END;
CREATE TRIGGER metadata_changed AFTER UPDATE OF metadata ON documents
  WHEN new.metadata IS NOT old.metadata BEGIN
    DELETE FROM metadata WHERE document = new.number;
    INSERT INTO metadata (name, kind, value, document)
    SELECT key,
      CASE WHEN type = 'text' THEN 'string' WHEN type IN ('true', 'false') THEN 'boolean' ELSE 'number' END,
      value, new.number
    FROM json_each(new.metadata);
  END;
CREATE TRIGGER metadata_removed AFTER DELETE ON documents
  WHEN old.metadata IS NOT NULL BEGIN
    DELETE FROM metadata WHERE document = old.number;
  END;
CREATE UNIQUE INDEX vectors_key ON vectors (key);
CREATE UNIQUE INDEX files_of_document ON files (document, revision);
CREATE INDEX documents_tables ON documents (number)
  WHERE lower(substr(coalesce(json_extract(file, '$.name'), title), -4))
    IN ('.csv', '.tsv', 'xlsx', 'quet', 'sonl', 'json');
CREATE INDEX announcements_due ON announcements (due_at);
CREATE TRIGGER document_ended AFTER UPDATE OF status ON documents
  WHEN new.status <> old.status AND new.status IN ('ready', 'failed')
    AND (SELECT value FROM meta WHERE name = 'announcing') = 1 BEGIN
    INSERT OR REPLACE INTO announcements
      (document, id, revision, status, error_code, error_message, ended_at, due_at)
    VALUES (new.number, 'msg_' || lower(hex(randomblob(16))), new.revision, new.status,
      new.error_code, new.error_message, new.updated_at, new.updated_at);
  END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('documents',11);
INSERT INTO "sqlite_sequence" VALUES('files',4);
COMMIT;
PRAGMA application_id = 1097290614;
PRAGMA user_version = 8;
