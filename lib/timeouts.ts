import type { Route } from '../api/routes.ts';
import type { Config } from './config.ts';

/** Gives routes the time-outs of the settings. */
export const withTimeouts = (routes: readonly Route[], config: Config): readonly Route[] =>
  routes.map((route) =>
    route.timeoutSetting === undefined ? route : { ...route, timeoutSeconds: config[route.timeoutSetting] },
  );
