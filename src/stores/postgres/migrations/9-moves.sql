-- A corpus that is copied here in steps, each of which survives what ends the copying. While there is a row in `moves`,
-- nobody else adds documents, and no server starts on the database.

CREATE TABLE moves (
  documents bigint NOT NULL,
  chunks bigint NOT NULL,
  digest text NOT NULL
);

-- Jobs of documents that were copied, until all are there: a server that runs would begin with them.
CREATE TABLE moved_jobs (
  document bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
  revision integer NOT NULL,
  run_at bigint NOT NULL
);

CREATE FUNCTION refuse_while_moving() RETURNS trigger LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
BEGIN
  IF current_setting('agent_server.moving', true) IS DISTINCT FROM 'on' AND EXISTS (SELECT 1 FROM moves) THEN
    RAISE EXCEPTION 'a corpus is being moved here' USING ERRCODE = 'AS009';
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER documents_moving BEFORE INSERT ON documents
FOR EACH STATEMENT EXECUTE FUNCTION refuse_while_moving();
