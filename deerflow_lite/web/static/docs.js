// Shows the OpenAPI document with Swagger UI; it is no part of the chat page.

"use strict";
window.SwaggerUIBundle({
  url: "/api/openapi.json",
  dom_id: "#swagger",
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
});
