import HTTPTypes
import Base
import Schemas

/// The API's document (OpenAPI 3.1), derived from the declarations of the routes.
struct OpenAPIDocument {
    /// A section of the API with its routes.
    typealias Section = (about: APISection, routes: [Route])

    let json: JSONValue

    /// - Throws: `UnrecordableType`.
    init(_ sections: [Section]) throws {
        let parts = try DocumentParts()
        var paths: [(path: String, operations: [JSONValue.Member])] = []
        for section in sections {
            for route in section.routes {
                let operation = try Operation(route, in: section.about, parts)
                let member = JSONValue.Member(route.method.rawValue.lowercased(), operation.json)
                if let known = paths.firstIndex(where: { $0.path == operation.path }) {
                    paths[known].operations.append(member)
                } else {
                    paths.append((operation.path, [member]))
                }
            }
        }
        json = parts.completing([
            "openapi": "3.1.0",
            "info": [
                "title": "Mobile Student Intranet", "version": .string(productVersion), "summary": .string(Self.summary),
                "description": .string(Self.overview),
            ],
            "servers": [["url": "/"]],
            "tags": .array(
                sections.map { ["name": .string($0.about.title), "description": .string($0.about.introduction)] }),
            "paths": .object(paths.map { .init($0.path, .object($0.operations)) }),
        ])
    }

    private static let summary = "The campus message hub"

    private static let overview = """
        Messages flow from a communicator, through **channel → area → subject** (the information cube), to every phone that is \
        subscribed to the subject's topic.

        JSON in, JSON out. A body has exactly the fields that are listed here: an unknown, missing, repeated or null field is an error \
        that names the field. Its `Content-Type` is ignored. Answers may get more fields in later versions. Times are Unix \
        milliseconds, and identifiers are ObjectIds of 24 hexadecimal digits.

        **Sign in** with `POST /session` (a cookie, for browsers), or send a bearer token: `Authorization: Bearer …`. The first start \
        writes one with all rights into the file `token` of the state directory. **Students** sign in once on each device, with `PUT /user`; \
        the token of a device counts for their own routes alone.

        Every error is a problem document (`application/problem+json`). Every answer has the request's id as `X-Request-Id`, which is in \
        the services' logs. Send your own as a W3C `traceparent` or an `X-Request-Id`. Every `GET` path answers `HEAD`, every path \
        answers `OPTIONS`, and any other method is answered with 405 and `Allow`.
        """
}
