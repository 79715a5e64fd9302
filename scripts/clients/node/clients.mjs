// The clients on Node.js. Arguments: the server, the goldens, the file for the
// results.

import { appendFileSync, readFileSync } from 'node:fs';
import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { CohereClient, CohereClientV2 } from 'cohere-ai';
import { InferenceClient } from '@huggingface/inference';

const [server, goldens, results] = process.argv.slice(2);
const golden = JSON.parse(readFileSync(goldens, 'utf8'));
const { dense, reranker, texts, query, documents, logits } = golden;
const tolerance = 1e-5;

// The version a client's folder says it has.
const version = (folder) => JSON.parse(readFileSync(new URL(`node_modules/${folder}/package.json`, import.meta.url), 'utf8')).version;

async function check(client, folder, route, what, run) {
  const result = { client: `${client} ${version(folder)} (Node.js)`, route, what };
  try {
    result.detail = await run();
  } catch (error) { // whatever a client throws is its result
    result.fault = `${error.constructor.name}: ${error.message}`.slice(0, 300);
  }
  appendFileSync(results, JSON.stringify(result) + '\n');
}

function expect(condition, fault) {
  if (!condition) throw new Error(fault);
}

const ceiling = (difference) => (difference <= 1e-9 ? '1e-9' : `1e${Math.ceil(Math.log10(difference))}`);

function sameVectors(got, wanted = golden.passages) {
  expect(got.length === wanted.length, `${got.length} vectors for ${wanted.length} texts`);
  let worst = 0;
  got.forEach((row, i) => {
    expect(row.length === wanted[i].length, `${row.length} dimensions`);
    row.forEach((value, j) => { worst = Math.max(worst, Math.abs(value - wanted[i][j])); });
  });
  expect(worst <= tolerance, `off by ${worst}`);
  return `${got.length} vector${got.length > 1 ? 's' : ''}, off by ≤ ${ceiling(worst)}`;
}

function sameRanking(got, count = documents.length) {
  const order = documents.map((_, i) => i).sort((a, b) => logits[b] - logits[a]).slice(0, count);
  expect(String(got.map((item) => item.index)) === String(order), `order ${got.map((item) => item.index)}, want ${order}`);
  const worst = Math.max(...got.map((item) => Math.abs(item.relevanceScore - 1 / (1 + Math.exp(-logits[item.index])))));
  expect(worst <= tolerance, `off by ${worst}`);
  return `${got.length} in order, off by ≤ ${ceiling(worst)}`;
}

async function refused(kind, says, call) {
  try {
    await call();
  } catch (error) {
    expect(error instanceof kind && error.message.includes(says), `${error.constructor.name}: ${error.message}`);
    return `refused: ${error.constructor.name}, says '${says}'`;
  }
  throw new Error('was not refused');
}

async function openai(Client, folder) {
  const name = 'openai';
  let asked;
  const client = new Client({
    apiKey: 'unused', baseURL: `${server}/v1`, maxRetries: 0,
    fetch: (url, init) => { asked = init.body; return fetch(url, init); }, // to see what it asks
  });
  const embed = (options) => client.embeddings.create({ model: dense, input: texts, ...options });
  const vectors = (answer) => {
    answer.data.forEach((item, i) => expect(item.index === i, `index ${item.index} at ${i}`));
    return answer.data.map((item) => item.embedding);
  };
  await check(name, folder, '/v1/embeddings', 'a list, as the client asks by default', async () => {
    const answer = await embed();
    expect(answer.usage.prompt_tokens > texts.length, 'no usage');
    return `asks ${JSON.parse(asked).encoding_format}: ${sameVectors(vectors(answer))}`;
  });
  await check(name, folder, '/v1/embeddings', '`encoding_format: "float"`', async () => sameVectors(vectors(await embed({ encoding_format: 'float' }))));
  await check(name, folder, '/v1/embeddings', 'one text as a bare string', async () => sameVectors(vectors(await embed({ input: texts[2] })), [golden.passages[2]]));
  await check(name, folder, '/v1/embeddings', '`dimensions` of the model; others are refused', async () => {
    sameVectors(vectors(await embed({ dimensions: 384 })));
    return refused(Client.BadRequestError, '384', () => embed({ dimensions: 64 }));
  });
  await check(name, folder, '/v1/embeddings', 'an unknown model', () => refused(Client.NotFoundError, dense, () => embed({ model: 'absent' })));
  await check(name, folder, '/v1/models', '`models.list()`', async () => {
    const names = [];
    for await (const model of client.models.list()) names.push(model.id);
    expect(names.includes(dense) && names.includes(reranker), `models ${names}`);
    return `${names.length} models`;
  });
}

await openai(OpenAI, 'openai');
await openai(OpenAI6, 'openai-6');

for (const [Client, name, route] of [[CohereClient, 'CohereClient', '/v1/rerank'], [CohereClientV2, 'CohereClientV2', '/v2/rerank']]) {
  const client = new Client({ token: 'unused', environment: server, maxRetries: 0 });
  await check('cohere-ai', 'cohere-ai', route, `\`${name}.rerank\``, async () => sameRanking((await client.rerank({ model: reranker, query, documents })).results));
  await check('cohere-ai', 'cohere-ai', route, `\`${name}.rerank\`, \`topN\``, async () => sameRanking((await client.rerank({ model: reranker, query, documents, topN: 3 })).results, 3));
}

await check('@huggingface/inference', '@huggingface/inference', '/embed', '`featureExtraction({ endpointUrl: SERVER/embed })`', async () =>
  sameVectors(await new InferenceClient('unused').featureExtraction({ endpointUrl: `${server}/embed`, inputs: texts })));
