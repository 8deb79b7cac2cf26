import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

/** Answers as Parameter Store does, as far as webhooks need it. */
export interface SystemsManager extends AsyncDisposable {
  readonly endpoint: string;
  /** Values by the names of parameters. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Every operation that was asked for, in order. */
  readonly asked: readonly string[];
}

interface Request {
  readonly Name: string;
  readonly Type?: string;
  readonly Value?: string;
  readonly Overwrite?: boolean;
  readonly WithDecryption?: boolean;
  readonly Path?: string;
  readonly Recursive?: boolean;
  readonly ParameterFilters?: readonly { readonly Values: readonly string[] }[];
  readonly NextToken?: string;
}

class Refusal extends Error {}

/** Parameters on a page of a list: few, so that lists have several. */
const onPage = 2;

/** Starts it on loopback. No package of npm's has one that runs in a process. */
export const startSystemsManager = async (): Promise<SystemsManager> => {
  const parameters = new Map<string, string>();
  const asked: string[] = [];

  const find = ({ Name }: Request): string => {
    const value = parameters.get(Name);
    if (value === undefined) throw new Refusal('ParameterNotFound');
    return value;
  };
  const pageOf = <T>(all: readonly T[], { NextToken = '0' }: Request) => {
    const from = Number(NextToken);
    const next = from + onPage < all.length ? { NextToken: String(from + onPage) } : {};
    return { Parameters: all.slice(from, from + onPage), ...next };
  };
  const operations: Readonly<Record<string, (request: Request) => object>> = {
    PutParameter: ({ Name, Type, Value = '', Overwrite }) => {
      if (Type !== 'SecureString') throw new Refusal('UnsupportedParameterType');
      if (parameters.has(Name) && !Overwrite) throw new Refusal('ParameterAlreadyExists');
      parameters.set(Name, Value);
      return { Version: 1 };
    },
    GetParameter: (request) => {
      const value = find(request);
      return { Parameter: { Name: request.Name, Value: request.WithDecryption ? value : 'AQICAH…' } };
    },
    DeleteParameter: (request) => {
      find(request);
      parameters.delete(request.Name);
      return {};
    },
    DescribeParameters: (request) => {
      const prefix = `${request.ParameterFilters?.[0]?.Values[0]}/`;
      const names = [...parameters.keys()].filter((name) => name.startsWith(prefix));
      return pageOf(
        names.map((Name) => ({ Name, LastModifiedDate: 1_790_000_000.5 })),
        request,
      );
    },
    GetParametersByPath: (request) => {
      const prefix = `${request.Path}/`;
      const found = [...parameters].filter(
        ([name]) =>
          name.startsWith(prefix) && (request.Recursive || !name.slice(prefix.length).includes('/')),
      );
      return pageOf(
        found.map(([Name, Value]) => ({ Name, Value: request.WithDecryption ? Value : 'AQICAH…' })),
        request,
      );
    },
  };

  const server = createServer(async (req, res) => {
    const [, operation = ''] = String(req.headers['x-amz-target']).split('.');
    asked.push(operation);
    try {
      if (!req.headers.authorization?.includes('/ssm/aws4_request'))
        throw new Refusal('AccessDeniedException');
      const answer = operations[operation]?.(JSON.parse(await text(req)));
      if (!answer) throw new Refusal('InvalidAction');
      res.end(JSON.stringify(answer));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      res.writeHead(400).end(JSON.stringify({ __type: error.message }));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    endpoint: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    parameters,
    asked,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
};
