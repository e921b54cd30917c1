import Base
import FoundationEssentials
import HTTPTypes
import Synchronization

/// The API's own description: `GET /openapi.json`. The portal's page `/api` shows it.
struct OpenAPIRoutes: Feature {
    private let document: CachedDocument

    /// - Parameter features: The other features, in the order of the document's sections.
    init(describing features: [any Feature]) {
        let sections = features.map { ($0.section, $0.routes) } + [(Self.section, [Self.route { _ in Answer() }])]
        document = CachedDocument(sections: sections)
    }

    private static let section = APISection(
        "This document", "The API describes itself. Client generators read `/openapi.json`, and people read `/api`.")

    var section: APISection { Self.section }

    var routes: [Route] {
        [Self.route { call in Answer(body: try document.current(), "application/json", for: call) }]
    }

    /// The declaration, which the document describes before it exists.
    private static func route(
        _ handle: @escaping @Sendable (OpenCall<NoBody>) async throws -> Answer<NoContent>
    ) -> Route {
        Route(.get, "/openapi.json", right: .anyone, answer: .ok("application/json"), handle)
            .documented(
                "Read this document", "OpenAPI 3.1, as JSON.", headers: [.ifNoneMatch], answerHeaders: [.eTag],
                also: [AnswerForm(.notModified)], callsServices: false)
    }
}

/// The document. It is made for the first request, and does not change.
private final class CachedDocument: Sendable {
    private let sections: [OpenAPIDocument.Section]
    private let document = Mutex<TaggedBody?>(nil)

    init(sections: [OpenAPIDocument.Section]) {
        self.sections = sections
    }

    /// - Throws: `UnrecordableType`, or ``UndocumentedRoute``. A test reads the document, so that a released gateway does not throw.
    func current() throws -> TaggedBody {
        try document.withLock { known in
            if let known { return known }
            let made = TaggedBody(try OpenAPIDocument(sections).json.data)
            known = made
            return made
        }
    }
}
