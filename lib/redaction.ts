import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RemovalPolicy, SecretValue, Stage, Validations } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { needsKey } from '../foundations/redaction/rules.ts';
import type { Config } from './config.ts';
import { getBundle, redactionModule } from './handlers.ts';
import type { Needs } from './permissions.ts';

interface RedactionProps {
  readonly config: Pick<Config, 'keepData'>;
  readonly rules: NonNullable<Config['redact']>;
  /** Each handler's bundle, and that of what redacts. */
  readonly bundles: ReadonlyMap<string, string>;
}

/** What functions need to redact what they store: code, rules, and the key of hashes. */
export class Redaction extends Construct {
  /** Variables of a function that redacts. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #props: RedactionProps;

  constructor(scope: Construct, id: string, props: RedactionProps) {
    super(scope, id);
    this.#props = props;
    this.environment = {
      REDACTION: './redaction/index.cjs',
      ...(needsKey(props.rules) && { REDACTION_KEY: this.#key() }),
    };
  }

  /**
   * The key of hashes, as CloudFormation puts it into the functions' environment. With another key,
   * equal values would not have equal hashes any more, so it stays with the data.
   */
  #key(): string {
    const secret = new Secret(this, 'Key', {
      description: 'The key with which redacted values are hashed',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: this.#props.config.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'With another key, equal values would not have equal hashes any more.',
    });
    return SecretValue.secretsManager(secret.secretArn).unsafeUnwrap();
  }

  /** What a function needs that says which rules there are. */
  readonly showing: Needs = { environment: { REDACTION_RULES: './redaction/rules.json' }, showsRules: true };

  /**
   * The code of a function that redacts, or says what is redacted: its bundle, with the rules beside it, and with what
   * redacts.
   *
   * @param redacts whether the function redacts
   * @returns a folder in the assembly, where the app's own bundles are as well
   */
  code(handler: string, redacts = true): string {
    const { rules, bundles } = this.#props;
    const assembly = Stage.of(this)?.outdir ?? '.';
    const outdir = join(assembly, 'redacting', this.node.addr, handler.replaceAll('/', '-'));
    rmSync(outdir, { recursive: true, force: true });
    cpSync(getBundle(bundles, handler), outdir, { recursive: true });
    const beside = join(outdir, 'redaction');
    if (redacts) cpSync(getBundle(bundles, redactionModule), beside, { recursive: true });
    else mkdirSync(beside);
    writeFileSync(join(beside, 'rules.json'), `${JSON.stringify(rules)}\n`);
    return outdir;
  }
}
