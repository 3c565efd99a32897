# The image of a release for several architectures, with its bill of materials and provenance attached:
#   REGISTRY=registry.example.com/tollgate docker buildx bake --push
# RELEASING.md says what comes before.

variable "VERSION" {
  default = "1.0.0"
}

# The repository without a tag.
variable "REGISTRY" {
  default = "tollgate"
}

variable "NODE_IMAGE" {
  default = "node:26.10.0-slim"
}

# Of the commit that is built.
variable "REVISION" {
  default = ""
}

group "default" {
  targets = ["gateway"]
}

target "gateway" {
  context    = "."
  dockerfile = "Dockerfile"
  args       = { NODE_IMAGE = NODE_IMAGE }
  platforms  = ["linux/amd64", "linux/arm64"]
  # 1.2.3, 1.2 and 1; a version like 1.2.3-rc.1 gets only its own tag.
  tags = length(regexall("-", VERSION)) > 0 ? ["${REGISTRY}:${VERSION}"] : [
    "${REGISTRY}:${VERSION}",
    "${REGISTRY}:${join(".", slice(split(".", VERSION), 0, 2))}",
    "${REGISTRY}:${split(".", VERSION)[0]}",
  ]
  labels = {
    "org.opencontainers.image.title"    = "Tollgate"
    "org.opencontainers.image.licenses" = "MIT"
    "org.opencontainers.image.version"  = VERSION
    "org.opencontainers.image.revision" = REVISION
  }
  attest = ["type=sbom", "type=provenance,mode=max"]
}
