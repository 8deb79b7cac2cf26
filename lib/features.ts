import type { Construct } from 'constructs';
import { getHandlers, type Route } from '../api/endpoint.ts';
import { allRoutes } from '../api/routes.ts';
import { Alerts } from './alerts.ts';
import { Analytics } from './analytics.ts';
import type { Config } from './config.ts';
import { Cors } from './cors.ts';
import { Evaluations, Evaluators } from './evaluators.ts';
import { Events } from './events.ts';
import { Firewall } from './firewall.ts';
import {
  keyMakerHandler,
  limitsHandler,
  preflightHandler,
  redactionModule,
  watcherHandler,
} from './handlers.ts';
import { Limits } from './limits.ts';
import type { Needs } from './permissions.ts';
import { Redaction } from './redaction.ts';
import type { Service } from './service.ts';
import type { Streams } from './streams.ts';
import type { Watched } from './watched.ts';

/** What each setting makes that is off until somebody gives it a value. */
interface Made {
  readonly redact: Redaction;
  readonly limits: Limits;
  readonly evaluators: Evaluations;
  readonly alerts: Alerts;
  readonly events: Events;
  readonly analytics: Analytics;
  readonly firewallRatePerAddress: Firewall;
  readonly corsOrigins: Cors;
}

/** What was made for the settings that are on. */
export type Features = Partial<Made>;

/** A setting that is off or on: what it makes and brings when it is on. */
interface Feature<Setting extends keyof Made> {
  /** Every handler that it may bring, by its name. @default - none */
  readonly handlers?: readonly string[];
  /** Those that it brings with these settings. @default - all of `handlers` */
  readonly handlersWith?: (config: Config) => readonly string[];
  /** Whether a function of its own reads the streams of tables. @default false */
  readonly readsStreams?: boolean;
  /**
   * Makes it.
   *
   * @param made what was made for the settings before it in the list
   */
  readonly make: (
    scope: Construct,
    service: Service,
    setting: NonNullable<Config[Setting]>,
    made: Features,
  ) => Made[Setting];
  /** What the function of a route needs for it. @default - nothing */
  readonly routeNeeds?: (route: Route, made: Made[Setting]) => Needs | undefined;
  /** What alarms and dashboard watch of it. @default - nothing */
  readonly watched?: (made: Made[Setting]) => Watched;
  /** The handler of a route's function in place of its own. @default - its own */
  readonly routeHandler?: (route: Route) => string | undefined;
}

/** Throws an Error if the tables have no streams: no setting that is on has `readsStreams`. */
const withStreams = (service: Service): Service & { readonly streams: Streams } => {
  const { streams } = service;
  if (!streams) throw new Error('it reads streams: set readsStreams in its entry of lib/features.ts');
  return { ...service, streams };
};

/**
 * The settings that are off or on, in the order in which they are made. `xray` is none of them: it
 * makes nothing, but is a property of every function and of the API.
 */
const features: { readonly [Setting in keyof Made]: Feature<Setting> } = {
  redact: {
    handlers: [redactionModule],
    make: (scope, { config, bundles }, rules) =>
      new Redaction(scope, 'Redaction', { config, rules, bundles }),
    routeNeeds: ({ redaction }, { showing }) => (redaction ? showing : undefined),
  },
  limits: {
    handlers: [limitsHandler],
    make: (_scope, service, { unpriced }) => new Limits(service, unpriced),
    routeNeeds: ({ limits }, made) => limits && made.needs(limits),
    routeHandler: ({ limits }) => (limits === 'show' ? limitsHandler : undefined),
  },
  evaluators: {
    handlers: ['evaluators', 'events-evaluators', 'judge'],
    handlersWith: (config) => [watcherHandler(config), 'judge'],
    readsStreams: true,
    make: (scope, given, settings, { limits }) => {
      const service = withStreams(given);
      const evaluations = new Evaluations(scope, 'Evaluations', { service, limits });
      new Evaluators(scope, 'Evaluators', { service, settings, evaluations, limits });
      return evaluations;
    },
    routeNeeds: ({ evaluations }, made) => (evaluations ? made.scorerNeeds : undefined),
    watched: (made) => made.watched,
  },
  alerts: {
    handlers: ['alerts'],
    make: (scope, service, settings) => new Alerts(scope, 'Alerts', { service, settings }),
    routeNeeds: ({ alerts }, made) => (alerts ? made.needs : undefined),
    watched: (made) => made.watched,
  },
  events: {
    handlers: ['events'],
    handlersWith: ({ evaluators }) => (evaluators ? [] : ['events']),
    readsStreams: true,
    make: (scope, service, settings, { evaluators: evaluations }) =>
      new Events(scope, 'Events', { service: withStreams(service), settings, evaluations }),
    // What is audited is told when it is done, by the function that does it.
    routeNeeds: ({ stores }, { auditNeeds }) => (stores.audit ? auditNeeds : undefined),
  },
  analytics: {
    handlers: ['analytics'],
    readsStreams: true,
    make: (scope, service, settings) =>
      new Analytics(scope, 'Analytics', { service: withStreams(service), settings }),
  },
  firewallRatePerAddress: {
    make: (scope, { stage }, rate) => new Firewall(scope, 'Firewall', { rate, stage }),
  },
  corsOrigins: {
    handlers: [preflightHandler],
    make: (scope, service, origins) => new Cors(scope, 'Cors', service, origins),
  },
};

type Setting = keyof Made;

const all = Object.keys(features) as Setting[];

const isOn = (config: Config) => (setting: Setting) => config[setting] !== undefined;

/** Whether something reads the streams of tables. */
export const readsStreams = (config: Config): boolean =>
  all.filter(isOn(config)).some((setting) => features[setting].readsStreams);

/** Every handler that a service may need, by its name. */
export const everyHandler: readonly string[] = [
  ...getHandlers(allRoutes),
  'authorizer',
  keyMakerHandler,
  ...all.flatMap((setting) => features[setting].handlers ?? []),
];

/** The handlers of a service with these settings and routes. */
export const handlersFor = (config: Config, routes: readonly Route[]): readonly string[] => [
  ...getHandlers(routes),
  'authorizer',
  ...all.filter(isOn(config)).flatMap((setting) => {
    const { handlers = [], handlersWith } = features[setting];
    return handlersWith?.(config) ?? handlers;
  }),
];

/** Makes what the settings ask for. */
export const makeFeatures = (scope: Construct, service: Omit<Service, 'redaction'>): Features => {
  const made: Features = {};
  const add = <S extends Setting>(setting: S): void => {
    const value = service.config[setting];
    if (value === undefined || value === null) return;
    made[setting] = features[setting].make(scope, { ...service, redaction: made.redact }, value, made);
  };
  for (const setting of all) add(setting);
  return made;
};

/** What settings have the function of a route run and need, besides what the route says. */
export const featuresOfRoute = (
  route: Route,
  made: Features,
): { readonly handler: string; readonly needs: readonly (Needs | undefined)[] } => {
  const getNeeds = <S extends Setting>(setting: S): Needs | undefined => {
    const one = made[setting];
    return one && features[setting].routeNeeds?.(route, one);
  };
  const replacing = all
    .filter((setting) => made[setting])
    .map((setting) => features[setting].routeHandler?.(route));
  return {
    handler: replacing.find((handler) => handler !== undefined) ?? route.handler,
    needs: all.map(getNeeds),
  };
};

/** What alarms and dashboard watch of the settings that are on. */
export const listWatched = (made: Features): Watched[] => {
  const watched = <S extends Setting>(setting: S): Watched[] => {
    const one = made[setting];
    const own = one && features[setting].watched?.(one);
    return own ? [own] : [];
  };
  return all.flatMap(watched);
};
