import fc from 'fast-check';

/** A form as it is sent, with its content type. */
export interface Form {
  readonly type: string;
  readonly body: Buffer;
}

/** A form that is whole, and the file in it. */
interface WholeForm extends Form {
  readonly file: Buffer;
}

const end = '\r\n';

/** A part: its lines of headers, and its content. */
interface FormPart {
  readonly headers: readonly string[];
  readonly content: string | Buffer;
}

const assemble = (boundary: string, parts: readonly FormPart[], padding = ''): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ headers, content }) => [
      Buffer.from(`--${boundary}${padding}${end}${headers.map((line) => line + end).join('')}${end}`),
      Buffer.from(content),
      Buffer.from(end),
    ]),
    Buffer.from(`--${boundary}--${end}`),
  ]);

/** What a boundary may have by RFC 2046, 5.1.1: no more than 70 characters, no space at its end. */
const letters = [..."0123456789abcXYZ'()+_,-./:=?"];
const boundaries = fc
  .array(fc.constantFrom(...letters), { minLength: 12, maxLength: 70 })
  .map((list) => list.join(''));

/** Bytes that look like the end of a part, and are none. */
const contents = (boundary: string): fc.Arbitrary<Buffer> => {
  const pieces = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map(Buffer.from),
    fc
      .constantFrom(end, '\n', '--', `--${boundary.slice(0, -1)}`, `${end}--`, '\0', '\ufeff', 'é')
      .map((text) => Buffer.from(text)),
  );
  return (
    fc
      .array(pieces, { maxLength: 8 })
      .map((list) => Buffer.concat(list))
      // Node's parser refuses a form whose boundary is in a file, even if no line begins with it.
      // Clients draw long boundaries at random, so none of them does that.
      .filter((bytes) => !bytes.includes(boundary))
  );
};

const disposition = (name: string, file?: string): string =>
  `form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"`}`;

const headerNames = fc.constantFrom('Content-Disposition', 'content-disposition', 'CONTENT-DISPOSITION');
const others = fc.subarray([
  'Content-Type: application/octet-stream',
  'content-type: text/plain; charset=utf-8',
  'X-More: one; two="three"',
]);
const fileNames = fc.constantFrom(
  'f',
  'a b.txt',
  '',
  'größe.bin',
  '%22quoted%22',
  '../../etc/passwd',
  'x;y=z',
);

/** Forms that a client may send: with any boundary, order of parts, headers and bytes. */
export const wholeForms = (project: string): fc.Arbitrary<WholeForm> =>
  boundaries.chain((boundary) =>
    fc
      .record({
        file: contents(boundary),
        fileName: fileNames,
        header: headerNames,
        more: others,
        unknown: fc.boolean(),
        fileFirst: fc.boolean(),
        parameter: fc.constantFrom('boundary', 'Boundary', 'charset=utf-8; boundary'),
      })
      .map(({ file, fileName, header, more, unknown, fileFirst, parameter }) => {
        const parts: FormPart[] = [
          { headers: [`${header}: ${disposition('project_id')}`], content: project },
          { headers: [`${header}: ${disposition('file', fileName)}`, ...more], content: file },
          ...(unknown ? [{ headers: [`${header}: ${disposition('more')}`], content: 'passed over' }] : []),
        ];
        const body = assemble(boundary, fileFirst ? parts.toReversed() : parts);
        return { type: `multipart/form-data; ${parameter}="${boundary}"`, body, file };
      }),
  );

/** Forms, most of which somebody has spoilt. */
export const forms = (project: string): fc.Arbitrary<Form> =>
  fc
    .tuple(wholeForms(project), fc.nat(), fc.nat(255), fc.integer({ min: 0, max: 7 }))
    .map(([{ type, body }, at, byte, way]) => {
      const place = at % (body.length + 1);
      const head = body.subarray(0, place);
      const tail = body.subarray(place);
      const line = Buffer.from(end);
      if (way === 0) return { type, body: head };
      if (way === 1) return { type, body: tail };
      if (way === 2) return { type, body: Buffer.concat([head, Buffer.of(byte), tail]) };
      if (way === 3) return { type, body: Buffer.concat([head, Buffer.of(byte), tail.subarray(1)]) };
      if (way === 4) return { type, body: Buffer.concat([head, line, tail]) };
      if (way === 5) return { type, body: Buffer.concat([body, body]) };
      if (way === 6) return { type, body: Buffer.concat([Buffer.from('preamble'), line, body, tail]) };
      return { type: type.slice(0, -(byte % 9) - 1), body };
    });

const type = 'multipart/form-data; boundary=b';
const project: FormPart = {
  headers: [`content-disposition: ${disposition('project_id')}`],
  content: 'acme/fuzz',
};
const file: FormPart = { headers: [`content-disposition: ${disposition('file', 'f')}`], content: 'x' };
const makeForm = (...parts: readonly FormPart[]): Form => ({ type, body: assemble('b', parts) });
const withHeader = (...headers: readonly string[]): FormPart => ({ headers, content: 'x' });
const raw = (text: string, as = type): Form => ({ type: as, body: Buffer.from(text) });
const whole = assemble('b', [project, file]).toString();

/** Forms by what is wrong with them, or odd. */
export const brokenForms: readonly (readonly [name: string, form: Form])[] = [
  ['nothing', raw('')],
  ['an end alone', raw('--b--')],
  ['an end, and then a beginning', raw(`--b--\r\n${whole}`)],
  ['line feeds alone', raw(whole.replaceAll('\r\n', '\n'))],
  ['a preamble and an epilogue', raw(`preamble\r\n${whole}epilogue`)],
  ['white space behind a boundary', { type, body: assemble('b', [project, file], ' \t') }],
  ['no empty line behind headers', raw('--b\r\ncontent-disposition: form-data; name="file"\r\n--b--\r\n')],
  ['a part without headers', makeForm(project, withHeader())],
  ['a part without a disposition', makeForm(project, withHeader('content-type: text/plain'))],
  ['a part without a name', makeForm(project, withHeader('content-disposition: form-data'))],
  ['an empty name', makeForm(project, withHeader('content-disposition: form-data; name=""'))],
  [
    'a name without quotes',
    makeForm(project, withHeader('content-disposition: form-data; name=file; filename=f')),
  ],
  ['a name that does not end', makeForm(project, withHeader('content-disposition: form-data; name="file'))],
  ['another disposition', makeForm(project, withHeader('content-disposition: attachment; filename="f"'))],
  [
    'a name of the prototype',
    makeForm(project, file, withHeader(`content-disposition: ${disposition('__proto__')}`)),
  ],
  ['a NUL in a name', makeForm(project, withHeader(`content-disposition: ${disposition('fi\0le', 'f')}`))],
  ['a header without a colon', makeForm(project, withHeader('content-disposition'))],
  [
    'a header that goes on in the next line',
    makeForm(project, withHeader('content-disposition: form-data;', ' name="file"')),
  ],
  ['a huge header', makeForm(project, withHeader(`x-more: ${'x'.repeat(200_000)}`, ...file.headers))],
  [
    'a thousand headers',
    makeForm(project, withHeader(...Array.from({ length: 1000 }, (_, i) => `x-${i}: 1`), ...file.headers)),
  ],
  [
    'a huge name',
    makeForm(project, file, withHeader(`content-disposition: ${disposition('n'.repeat(200_000))}`)),
  ],
  ['ten thousand parts', makeForm(project, ...Array.from({ length: 10_000 }, () => file))],
  ['every part twice', makeForm(project, file, project, file)],
  ['two projects', makeForm(project, { ...project, content: 'umbrella/secret' }, file)],
  [
    'a project that is a file',
    makeForm({ ...file, headers: [`content-disposition: ${disposition('project_id', 'f')}`] }, file),
  ],
  [
    'a file that is a text',
    makeForm(project, { ...file, headers: [`content-disposition: ${disposition('file')}`] }),
  ],
  ['a length that is wrong', makeForm(project, withHeader(...file.headers, 'content-length: 100'))],
  [
    'a coding that nobody uses',
    makeForm(project, withHeader(...file.headers, 'content-transfer-encoding: base64')),
  ],
  [
    'a form in a form',
    makeForm(project, {
      headers: [...file.headers, 'content-type: multipart/mixed; boundary=c'],
      content: assemble('c', [file]),
    }),
  ],
  [
    'a form in a form, of the same boundary',
    makeForm(project, {
      headers: [...file.headers, `content-type: ${type}`],
      content: assemble('b', [file]),
    }),
  ],
  ['near ends without an end', raw(`${whole.slice(0, -7)}${'\r\n--'.repeat(200_000)}`)],
  ['line ends alone', raw('\r\n'.repeat(500_000))],
  ['boundaries alone', raw('--b\r\n'.repeat(200_000))],
  ['a boundary of nothing', raw(whole, 'multipart/form-data; boundary=')],
  ['a boundary of nothing in quotes', raw(whole, 'multipart/form-data; boundary=""')],
  ['a boundary of 5,000 characters', raw(whole, `multipart/form-data; boundary=${'b'.repeat(5000)}`)],
  ['two boundaries', raw(whole, 'multipart/form-data; boundary=b; boundary=c')],
  ['another charset', raw(whole, 'multipart/form-data; charset=utf-16; boundary=b')],
  ['another type', raw(whole, 'multipart/mixed; boundary=b')],
  ['fields of a form', raw('project_id=acme%2Fshop&file=x', 'application/x-www-form-urlencoded')],
];
