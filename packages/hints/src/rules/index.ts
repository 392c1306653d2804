// Owns the order of the rule tables: more specific software first, everyday words last.

import { buildRules, type Rule } from "../rule.js";
import { AGENT_TOOLS } from "./agent-tools.js";
import { DOTNET } from "./dotnet.js";
import { EVERYDAY } from "./everyday.js";
import { GO, RUST } from "./go-rust.js";
import { HTTP_CODES } from "./http-code.js";
import { DOCKER, GIT, KUBERNETES } from "./infrastructure.js";
import { JAVA } from "./java.js";
import { JAVA_DATA } from "./java-data.js";
import { JAVASCRIPT } from "./javascript.js";
import { JS_ORM, PRISMA, PRISMA_CODES } from "./js-orm.js";
import { LOCALIZED } from "./localized.js";
import { MONGODB } from "./mongodb.js";
import { MYSQL, MYSQL_CODES } from "./mysql.js";
import { ORACLE } from "./oracle.js";
import { PHP } from "./php.js";
import { POSTGRES } from "./postgres.js";
import { PYTHON } from "./python.js";
import { DJANGO, SQLALCHEMY } from "./python-orm.js";
import { RUBY } from "./ruby.js";
import { SQLITE } from "./sqlite.js";
import { SQLSERVER } from "./sqlserver.js";
import { ERRNO, SHELL, WIN_ERROR } from "./system.js";
import { VALIDATION } from "./validation.js";
import { APIS, GRAPHQL, GRPC, HTTP } from "./web.js";

/** All text rules in the order that breaks ties. */
export function rules(): readonly Rule[] {
  return buildRules(TABLES);
}

const TABLES = [
  { family: "postgres", strength: 1, rows: POSTGRES },
  { family: "mysql", strength: 1, rows: MYSQL },
  { family: "mysql-code", strength: 1, rows: MYSQL_CODES },
  { family: "sqlite", strength: 1, rows: SQLITE },
  { family: "sqlserver", strength: 1, rows: SQLSERVER },
  { family: "oracle", strength: 2, rows: ORACLE },
  { family: "mongodb", strength: 1, rows: MONGODB },
  { family: "prisma", strength: 1, rows: PRISMA },
  { family: "prisma-code", strength: 2, rows: PRISMA_CODES },
  { family: "js-orm", strength: 1, rows: JS_ORM },
  { family: "sqlalchemy", strength: 1, rows: SQLALCHEMY },
  { family: "django", strength: 1, rows: DJANGO },
  { family: "java-data", strength: 1, rows: JAVA_DATA },
  { family: "localized", strength: 1, rows: LOCALIZED },
  { family: "java", strength: 1, rows: JAVA },
  { family: "dotnet", strength: 1, rows: DOTNET },
  { family: "go", strength: 1, rows: GO },
  { family: "rust", strength: 1, rows: RUST },
  { family: "php", strength: 1, rows: PHP },
  { family: "ruby", strength: 1, rows: RUBY },
  { family: "javascript", strength: 1, rows: JAVASCRIPT },
  { family: "graphql", strength: 1, rows: GRAPHQL },
  { family: "api", strength: 1, rows: APIS },
  { family: "agent-tools", strength: 1, rows: AGENT_TOOLS },
  { family: "kubernetes", strength: 1, rows: KUBERNETES },
  { family: "docker", strength: 1, rows: DOCKER },
  { family: "git", strength: 1, rows: GIT },
  { family: "shell", strength: 1, rows: SHELL },
  { family: "python", strength: 1, rows: PYTHON },
  { family: "validation", strength: 2, rows: VALIDATION },
  { family: "errno", strength: 1, rows: ERRNO },
  { family: "windows", strength: 1, rows: WIN_ERROR },
  { family: "grpc", strength: 1, rows: GRPC },
  { family: "http", strength: 2, rows: HTTP },
  { family: "http-code", strength: 2, rows: HTTP_CODES },
  { family: "everyday", strength: 3, rows: EVERYDAY },
] as const;
