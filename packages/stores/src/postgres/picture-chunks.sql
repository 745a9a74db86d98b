-- Chunks that stand for a picture, whose context describes it; a few others may look alike.
CREATE INDEX chunks_of_pictures ON chunks (key) WHERE substr(text, 1, 9) = '[Picture ' AND right(text, 1) = ']';
CREATE VIEW picture_chunks AS SELECT key FROM chunks WHERE substr(text, 1, 9) = '[Picture ' AND right(text, 1) = ']';
