import HTTPTypes
import Hummingbird
import Pages

/// The portal: the pages for browsers, and the files that they load.
///
/// Browsers send their cookie with the requests for them. The gateway does not look at it: pages and files are the same for everyone,
/// and must come also while the people service is away.
struct PortalRoutes: Feature {
    /// `nil` if they are not installed.
    let files: PortalFiles?

    /// The page for the paths that have none.
    private static let notFoundPage = "not-found"

    var section: APISection {
        APISection(
            "Portal",
            "Pages for browsers. A page asks this API, as any other client does. The files that a page loads have a path with the "
                + "version of all files, and may be kept for ever.")
    }

    var routes: [Route] {
        [
            fixed("/", .html, "Show the first page") { try answer($0, page: "") },
            fixed("/api", .html, "Show this document", "The page reads `/openapi.json`.") { try answer($0, page: "api") },
            // Browsers ask for this path by themselves.
            fixed("/favicon.ico", .svg, "Read the icon", "For the tabs of browsers.") {
                try installed.assets.answer("", "icon.svg", for: $0) ?? notFound($0)
            },
            Route(.get, "/portal", right: .anonymous, answer: .init(status: .seeOther)) { _ in
                Answer<NoContent>.redirect(.seeOther, to: "/portal/send/")
            }.documented("Go to the page for sending", answerHeaders: [.path], callsServices: false),
            Route(.get, "/portal/**", right: .anonymous, answer: .ok(FileType.html.mediaType), pageOrFile).documented(
                "Show a page, or read a file of the pages",
                "`<page>/` is a page, such as `send/`; without the slash, the answer is a redirection to it. "
                    + "`files/<version>/<path>` is a file. With the current version, which the pages name, it may be kept for ever. "
                    + "With any other version, the answer is the current file. An empty path leads to the page for sending. "
                    + "A browser gets a page even if the path does not exist.",
                path: ["path": String.self], headers: [.ifNoneMatch], answerHeaders: [.eTag], also: Self.otherAnswers,
                callsServices: false),
        ]
    }

    /// A page or file with a path outside `/portal`.
    private func fixed(
        _ path: String, _ type: FileType, _ summary: String, _ details: String = "",
        _ handle: @escaping @Sendable (OpenCall<NoBody>) throws -> Answer<NoContent>
    ) -> Route {
        Route(.get, path, right: .anonymous, answer: .ok(type.mediaType)) { try handle($0) }
            .documented(
                summary, details, headers: [.ifNoneMatch], answerHeaders: [.eTag], also: [AnswerForm(.notModified)],
                problems: [.notFound], callsServices: false)
    }

    private static let otherAnswers =
        FileType.allCases.filter { $0 != .html }.map { AnswerForm(.ok, mediaType: $0.mediaType) } + [
            AnswerForm(.notModified), AnswerForm(.seeOther), AnswerForm(.permanentRedirect),
            AnswerForm(.notFound, mediaType: FileType.html.mediaType),
        ]

    private func pageOrFile(_ call: OpenCall<NoBody>) throws -> Answer<NoContent> {
        let path = call.request.uri.path
        let parts = path.split(separator: "/").dropFirst()
        if parts.first == "files", let version = parts.dropFirst().first {
            return try installed.assets.answer(version, parts.dropFirst(2).joined(separator: "/"), for: call) ?? notFound(call)
        }
        let page = parts.joined(separator: "/")
        guard !path.hasSuffix("/"), try installed.page(page) != nil else { return try answer(call, page: page) }
        let query = call.request.uri.query.map { "?\($0)" } ?? ""
        return .redirect(.permanentRedirect, to: "/portal/\(page)/\(query)")
    }

    private func answer(_ call: OpenCall<NoBody>, page: String) throws -> Answer<NoContent> {
        guard let body = try installed.page(page) else { return try notFound(call) }
        return Answer(body: body, FileType.html.contentType, for: call)
    }

    /// A page for browsers, and a problem for any other client.
    private func notFound(_ call: OpenCall<NoBody>) throws -> Answer<NoContent> {
        guard call.prefersPage, let page = try installed.page(Self.notFoundPage) else {
            throw Problem(.notFound, "The portal has no page or file at this path.")
        }
        return Answer(body: page, FileType.html.contentType, for: call, status: .notFound)
    }

    /// - Throws: ``Problem`` if there are no files.
    private var installed: PortalFiles {
        get throws {
            guard let files else {
                throw Problem(
                    .notFound,
                    "The portal's pages are not installed: the folders mobile-student-intranet_Gateway.resources and …_Pages.resources are missing beside "
                        + "msi-gateway. The API works without it; /openapi.json describes it.")
            }
            return files
        }
    }
}

extension AnswerHeader {
    fileprivate static let path = AnswerHeader(
        name: .location, description: "The path of the page.", example: "/portal/send/")
}
