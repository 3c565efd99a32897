// The operator's first page: what is going on, and what needs a decision.
import { html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { facts } from '../parts.ts';
import { countPayments } from './admin-payments.ts';

const WORDS = defineWords({
  en: {
    title: 'Operator',
    accounts: 'Accounts',
    models: 'Available models',
    gateways: 'Gateways on this store',
    jobs: 'Open videos',
    reviews: 'Payments to review',
    disputes: 'Disputed payments',
  },
  ru: {
    title: 'Оператор',
    accounts: 'Аккаунты',
    models: 'Действующие модели',
    gateways: 'Процессы на этом хранилище',
    jobs: 'Видео в работе',
    reviews: 'Платежи на проверке',
    disputes: 'Оспоренные платежи',
  },
});

export const adminOverview = page({
  path: '/admin',
  who: 'operator',
  async get(visit) {
    const { services, language, format } = visit;
    const words = WORDS[language];
    const { store, catalog } = services;
    const [accounts, gateways, jobs] = await Promise.all([store.accounts.list(), store.gateways(), store.jobs.open()]);
    const [reviews, disputes] = await Promise.all([
      countPayments(visit, ['review']),
      countPayments(visit, ['disputed']),
    ]);
    const models = catalog().models.filter(({ routes }) => routes.length > 0);
    const body = facts([
      [words.accounts, format.number(accounts.length)],
      [words.models, format.number(models.length)],
      [words.gateways, format.number(gateways.length)],
      [words.jobs, format.number(jobs)],
      [words.reviews, html`<a href="/admin/payments?phase=review">${reviews}</a>`],
      [words.disputes, html`<a href="/admin/payments?phase=disputed">${disputes}</a>`],
    ]);
    return { title: words.title, body };
  },
});
