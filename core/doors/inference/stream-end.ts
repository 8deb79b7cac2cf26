/** The line with which the last event of a stream begins: of chat completions, a response or a message. */
const lastEvent =
  /\n(?:data: ?\[DONE\]|event: ?(?:message_stop|response\.(?:completed|incomplete|failed))\r?\n)/;
const emptyLine = /\n\r?\n/;

/** Longer than such a line. */
const lineCharacters = 64;

/**
 * Finds the end of a stream of server-sent events. Clients leave there, and some upstreams close
 * only a little later.
 *
 * @returns takes the next bytes, and tells whether the last event is whole
 */
export const streamEnd = (): ((bytes: Buffer) => boolean) => {
  let kept = '\n';
  let inLast = false;
  let whole = false;
  return (bytes) => {
    if (whole) return true;
    let text = kept + bytes.toString('latin1');
    const at = inLast ? -1 : text.search(lastEvent);
    if (at >= 0) {
      inLast = true;
      text = text.slice(at + 1);
    }
    whole = inLast && emptyLine.test(text);
    kept = text.slice(-lineCharacters);
    return whole;
  };
};
