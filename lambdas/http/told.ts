import { type ErrorBody, ServiceError } from '../../core/foundations/wire/index.ts';
import type { Details, RequestLog } from '../log/index.ts';
import { keptAlive } from './keep-alive.ts';
import type { Limits } from './limits.ts';
import type { Sending } from './sending.ts';
import { jsonText, type Piece, utf8 } from './text.ts';

/** A streamed answer: its text as it becomes known, and its details for the log once it is over. */
export interface StreamedAnswer {
  /** Each piece ends where white space may stand: between two tokens of JSON, or with a line. */
  readonly text: AsyncIterable<Piece>;
  readonly logged: () => Details;
  /**
   * How many records the request skips, if it could go on with another number. @default - it cannot
   */
  readonly offset?: number;
}

/** What a streamed answer is told with. */
export interface Telling {
  readonly log: RequestLog;
  readonly sending: Sending;
  /** Aborted when nobody takes the answer any more. */
  readonly gone: AbortSignal;
  /** An empty line in the answer's form. */
  readonly emptyLine: string;
  readonly limits: Limits;
}

const tooLong = ({ offset }: StreamedAnswer, rows: number): ServiceError => {
  const msg = 'an answer may have 200 MB, and this one has more';
  return new ServiceError(413, [
    offset === undefined
      ? { loc: ['body'], msg: `${msg}: ask for less`, type: 'answer_too_long' }
      : {
          loc: ['body', 'offset'],
          msg: `${msg}: the first ${rows} are above, continue with "offset": ${offset + rows}`,
          type: 'answer_too_long',
        },
  ]);
};

/**
 * Encodes an answer as UTF-8, with white space while it is silent, and tells the log how it ended.
 * A failure before the first byte is its reader's. A later one ends the answer in an error, which
 * breaks the connection off. If the status could not tell any more what is wrong with the request,
 * the error's body comes first.
 */
export async function* told(answer: StreamedAnswer, telling: Telling): AsyncGenerator<Buffer> {
  const { log, sending, gone, limits } = telling;
  const emptyLine: Piece = [telling.emptyLine];
  let bytes = 0;
  let rows = 0;
  let begun = false;
  let answered = false;
  const give = (encoded: Buffer): Buffer => {
    begun = true;
    bytes += encoded.length;
    sending.gives(encoded.length);
    return encoded;
  };
  let cut = false;
  log.describes(() => ({ status: 200, ...answer.logged(), ...(cut && { rows }), bytes }));
  try {
    for await (const piece of keptAlive(answer.text, emptyLine, limits.silenceMs)) {
      const encoded = utf8(piece);
      cut = !sending.fits(encoded.length);
      if (cut) throw tooLong(answer, rows);
      if (piece !== emptyLine) {
        answered = true;
        // Of all that was found so far, since nobody has asked for more yet.
        rows = answer.logged().rows ?? 0;
      }
      yield give(encoded);
    }
    // A source that is asked to stop may end without an error.
    log.ends(gone.aborted ? 'gone' : 'answered');
  } catch (error) {
    if (begun) {
      const refused = error instanceof ServiceError && error.status < 500;
      log.ends(gone.aborted ? 'gone' : refused ? 'refused' : 'broken', error);
      if (error instanceof ServiceError && !gone.aborted && (!answered || cut)) {
        const body: ErrorBody = { detail: error.detail };
        yield give(utf8([telling.emptyLine, jsonText(body)]));
        await sending.taken();
      }
    }
    throw error;
  } finally {
    // Ended from outside, between two pieces. An end that was told before counts, and this one does
    // not.
    if (begun) log.ends('gone');
  }
}
