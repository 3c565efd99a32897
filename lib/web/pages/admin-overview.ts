// The operator's first page: whether the money adds up as far as a glance tells, and what is going on.

import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { facts } from '../parts.ts';

const WORDS = defineWords({
  en: {
    title: 'Operator',
    accounts: 'Accounts',
    models: 'Available models',
    gateways: 'Gateways on this store',
    jobs: 'Open videos',
  },
  ru: {
    title: 'Оператор',
    accounts: 'Аккаунты',
    models: 'Действующие модели',
    gateways: 'Процессы на этом хранилище',
    jobs: 'Видео в работе',
  },
});

export const adminOverview = page({
  path: '/admin',
  who: 'operator',
  async get({ services, language, format }) {
    const words = WORDS[language];
    const { store, catalog } = services;
    const [accounts, gateways, jobs] = await Promise.all([store.accounts.list(), store.gateways(), store.jobs.open()]);
    const models = catalog().models.filter(({ routes }) => routes.length > 0);
    const body = facts([
      [words.accounts, format.number(accounts.length)],
      [words.models, format.number(models.length)],
      [words.gateways, format.number(gateways.length)],
      [words.jobs, format.number(jobs)],
    ]);
    return { title: words.title, body };
  },
});
