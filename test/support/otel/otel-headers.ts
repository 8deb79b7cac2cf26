/*
 * What exporters send, by what a text tells people to put into their environment or configuration.
 */

type Headers = Readonly<Record<string, string>>;

const decoding = (decode: (value: string) => string) => (variable: string) => {
  const entries = variable.split(',').map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at).trim().toLowerCase(), decode(pair.slice(at + 1).trim())] as const;
  });
  return Object.fromEntries(entries);
};

/**
 * How clients read `OTEL_EXPORTER_OTLP_HEADERS`.
 * Sources: `baggage/utils.ts` of opentelemetry-js; `util/re.py` of opentelemetry-python;
 * `envconfig.go` of opentelemetry-go; `OtlpConfigUtil.java` of opentelemetry-java;
 * `OtlpExporterOptionsExtensions.cs` of opentelemetry-dotnet; `exporter/mod.rs` of opentelemetry-rust.
 */
const clients: Readonly<Record<string, (variable: string) => Headers>> = {
  JavaScript: decoding(decodeURIComponent),
  Python: decoding(decodeURIComponent),
  Go: decoding(decodeURIComponent),
  // `URLDecoder` takes a plus for a space.
  Java: decoding((value) => decodeURIComponent(value.replaceAll('+', ' '))),
  '.NET': decoding(decodeURIComponent),
  Rust: decoding(decodeURIComponent),
  'Claude Code': decoding((value) => value),
};

/** What one place of a text has each client send. */
export interface ExportedHeaders {
  readonly headers: Readonly<Record<string, Headers>>;
}

/** The first of the groups that were met. */
const met = (groups: readonly (string | undefined)[]): string => groups.find(Boolean) ?? '';

const variable = /OTEL_EXPORTER_OTLP_(?:TRACES_|LOGS_)?HEADERS=(?:'([^']*)'|"([^"]*)"|([^\s`'"]+))/g;
const toml = /headers = (\{[^}]*\})/g;
/** The headers of a collector's exporter: plain scalars, one a line. */
const yaml = /^ {4}headers:\n((?: {6}\w+: .*\n)+)/gm;

const pairOfYaml = (line: string): [name: string, value: string] => {
  const at = line.indexOf(': ');
  return [line.slice(0, at).trim(), line.slice(at + 2)];
};

/** What a text has exporters send: by the environment, Codex's TOML, or a collector's YAML. */
export const exportedHeaders = (text: string): ExportedHeaders[] => [
  ...Array.from(text.matchAll(variable), ([, ...groups]) => ({
    headers: Object.fromEntries(Object.entries(clients).map(([name, read]) => [name, read(met(groups))])),
  })),
  // An inline table of plain strings is JSON but for its signs of equality.
  ...Array.from(text.matchAll(toml), ([, table = '']) => ({
    headers: { Codex: JSON.parse(table.replaceAll('" = "', '": "')) as Headers },
  })),
  ...Array.from(text.matchAll(yaml), ([, lines = '']) => ({
    headers: { Collector: Object.fromEntries(lines.trim().split('\n').map(pairOfYaml)) },
  })),
];
