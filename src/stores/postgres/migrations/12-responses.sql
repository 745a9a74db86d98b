-- Responses are kept as artifacts are, each kind within bounds of its own.

ALTER TABLE artifacts ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'artifact';

CREATE FUNCTION add_artifact(
  a_id text, a_name text, a_media_type text, a_bytes bytea, most bigint, most_bytes bigint, longest bigint, a_kind text
) RETURNS bigint LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
DECLARE moment bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(1097302902, 5);
  moment := now_ms();
  DELETE FROM artifacts WHERE kind = a_kind AND created_at <= moment - longest;
  DELETE FROM artifacts WHERE number IN (
    SELECT number FROM (
      SELECT number, row_number() OVER newest AS place, sum(size) OVER newest AS sum
      FROM artifacts WHERE kind = a_kind WINDOW newest AS (ORDER BY number DESC)
    ) AS kept WHERE place >= most OR sum + length(a_bytes) > most_bytes
  );
  INSERT INTO artifacts (id, name, media_type, size, created_at, bytes, kind)
  VALUES (a_id, a_name, a_media_type, length(a_bytes), moment, a_bytes, a_kind);
  RETURN moment;
END $$;

-- As servers of the version before call it, which may still run.
CREATE OR REPLACE FUNCTION add_artifact(
  a_id text, a_name text, a_media_type text, a_bytes bytea, most bigint, most_bytes bigint, longest bigint
) RETURNS bigint LANGUAGE sql SET search_path = agent_server, pg_temp AS $$
  SELECT add_artifact(a_id, a_name, a_media_type, a_bytes, most, most_bytes, longest, 'artifact')
$$;
