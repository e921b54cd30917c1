import FoundationEssentials
import HTTPTypes
import JSON
import Synchronization

/// The API's own description: `GET /openapi.json`, and the same document as a page.
struct ContractRoutes: Feature {
    private let contract: CachedContract

    /// - Parameter features: The other features, in the order of the document's sections.
    init(describing features: [any Feature]) {
        let sections = features.map { ($0.section, $0.routes) } + [(Self.section, Self.declarations)]
        contract = CachedContract(sections: sections)
    }

    private static let section = APISection(
        "This document", "The API describes itself. Client generators read `/openapi.json`, and people read `/api`.")

    var section: APISection { Self.section }

    var routes: [Route] {
        [
            Self.document { call in
                let document = try contract.current().json
                return Answer(body: document, "application/json", for: call)
            },
            Self.page { call in
                Answer(body: try contract.current().page, "text/html; charset=utf-8", for: call)
            },
            Self.stylesheet { call in
                Answer(body: CachedContract.stylesheet, "text/css; charset=utf-8", for: call)
            },
            Self.icon { call in
                Answer(body: CachedContract.icon, "image/svg+xml", for: call)
            },
        ]
    }

    // MARK: Declarations

    private typealias Handler = @Sendable (Call<NoBody>) async throws -> Answer<NoContent>

    /// The declarations alone, which the document describes before it exists.
    private static var declarations: [Route] {
        let noHandler: Handler = { _ in Answer() }
        return [document(noHandler), page(noHandler), stylesheet(noHandler), icon(noHandler)]
    }

    private static func document(_ handle: @escaping Handler) -> Route {
        route("/openapi.json", "application/json", handle, "Read this document", "OpenAPI 3.1, as JSON.")
    }

    private static func page(_ handle: @escaping Handler) -> Route {
        route("/api", "text/html", handle, "Show this document", "The same document as a page.")
    }

    private static func stylesheet(_ handle: @escaping Handler) -> Route {
        route("/api.css", "text/css", handle, "Read the page's stylesheet")
    }

    /// Browsers ask for this path by themselves.
    private static func icon(_ handle: @escaping Handler) -> Route {
        route("/favicon.ico", "image/svg+xml", handle, "Read the icon", "For the tabs of browsers.")
    }

    private static func route(
        _ path: String, _ mediaType: String, _ handle: @escaping Handler, _ summary: String, _ details: String = ""
    ) -> Route {
        Route(.get, path, right: .anyone, answer: .ok(mediaType), handle)
            .documented(
                summary, details, headers: [.ifNoneMatch], answerHeaders: [.eTag], also: [AnswerForm(.notModified)],
                callsServices: false)
    }
}

/// The document and its page. They are made for the first request, and do not change.
private final class CachedContract: Sendable {
    struct Contents {
        let json: TaggedBody
        let page: TaggedBody
    }

    static let stylesheet = TaggedBody(Data(APIStylesheet.css.utf8))
    static let icon = TaggedBody(Data(Icon.svg.utf8))

    private let sections: [OpenAPIDocument.Section]
    private let contents = Mutex<Contents?>(nil)

    init(sections: [OpenAPIDocument.Section]) {
        self.sections = sections
    }

    /// - Throws: `UnrecordableType`, or ``UndocumentedRoute``. A test reads the document, so that a released gateway does not throw.
    func current() throws -> Contents {
        try contents.withLock { known in
            if let known { return known }
            let document = try OpenAPIDocument(sections).json
            let made = Contents(json: TaggedBody(document.data), page: TaggedBody(Data(APIPage(of: document).html.utf8)))
            known = made
            return made
        }
    }
}
