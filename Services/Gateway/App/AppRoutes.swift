import HTTPTypes
import Hummingbird
import Pages

/// The student's app in a browser: its page, what makes it installable, and the files that it loads.
///
/// Its files are the same for everyone, and the app asks the API as any other phone does. They must come also while the services are
/// away. Thousands of phones behind the address of a campus read them, so they count as phones' requests.
struct AppRoutes: Feature {
    /// `nil` if they are not installed.
    let files: AppFiles?

    var section: APISection {
        APISection(
            "Students' app",
            "The app in a browser, which can be installed. It asks this API, as any other client does. The files that it loads have a "
                + "path with the version of all files, and may be kept for ever.")
    }

    var routes: [Route] {
        [
            Route(.get, "/app", right: .anonymous, answer: .ok(FileType.html.mediaType), page).documented(
                "Show the app",
                "In the language of `Accept-Language`, English or Arabic. Its path is `/app/`; without the slash, the answer "
                    + "is a redirection to it.",
                headers: [.ifNoneMatch], answerHeaders: [.eTag],
                also: [AnswerForm(.notModified), AnswerForm(.permanentRedirect)],
                problems: [.notFound], callsServices: false),
            Route(
                .get, AppFiles.manifestPath, right: .anonymous, query: ManifestQuery.self,
                answer: .ok(FileType.webmanifest.mediaType), manifest
            ).documented(
                "Read the manifest of the app",
                "What a browser needs to install the app. Without `language`, `Accept-Language` decides.",
                headers: [.ifNoneMatch], answerHeaders: [.eTag], also: [AnswerForm(.notModified)], problems: [.notFound],
                callsServices: false),
            Route(.get, "/app/service-worker.js", right: .anonymous, answer: .ok(FileType.js.mediaType)) {
                try worker($0, installed.serviceWorker)
            }.documented(
                "Read the service worker of the app", "It keeps the files of one version, with which the app starts offline.",
                headers: [.ifNoneMatch], answerHeaders: [.eTag], also: [AnswerForm(.notModified)], problems: [.notFound],
                callsServices: false),
            Route(.get, "/app/push-worker.js", right: .anonymous, answer: .ok(FileType.js.mediaType)) {
                try worker($0, installed.pushWorker)
            }.documented(
                "Read the service worker of the app as a module",
                "It also shows pushes. Browsers that do not take a module as a service worker use the other one.",
                headers: [.ifNoneMatch], answerHeaders: [.eTag], also: [AnswerForm(.notModified)], problems: [.notFound],
                callsServices: false),
            Route(.get, "/app/files/**", right: .anonymous, answer: .ok(FileType.js.mediaType), file).documented(
                "Read a file of the app",
                "`<version>/<path>`. With the current version, which the page names, it may be kept for ever. With any other version, the "
                    + "answer is the current file.",
                path: ["path": String.self], headers: [.ifNoneMatch], answerHeaders: [.eTag], also: Self.otherFiles,
                problems: [.notFound], callsServices: false),
        ].map { $0.counted(as: .phones) }
    }

    private static let otherFiles =
        FileType.allCases.filter { $0 != .html && $0 != .js }.map { AnswerForm(.ok, mediaType: $0.mediaType) } + [
            AnswerForm(.notModified)
        ]

    private struct ManifestQuery: Decodable {
        let language: AppLanguage?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case language
        }
    }

    private func page(_ call: OpenCall<NoBody>) throws -> Answer<NoContent> {
        try Self.page(call, at: AppFiles.root) { try installed.page($0) }
    }

    private func manifest(_ call: OpenCall<NoBody>, _ query: ManifestQuery) throws -> Answer<NoContent> {
        try Self.answer(call, language: query.language, .webmanifest) { try installed.manifest($0) }
    }

    private func worker(_ call: OpenCall<NoBody>, _ script: TaggedBody) throws -> Answer<NoContent> {
        var answer = Answer(body: script, FileType.js.contentType, for: call)
        answer.headers[.contentSecurityPolicy] = SecurityHeaders.workerPolicy
        return answer
    }

    private func file(_ call: OpenCall<NoBody>) throws -> Answer<NoContent> {
        let parts = call.request.uri.path.split(separator: "/").dropFirst(2)
        guard let version = parts.first,
            let answer = try installed.assets.answer(version, parts.dropFirst().joined(separator: "/"), for: call)
        else { throw Problem(.notFound, "The app has no file at this path.") }
        return answer
    }

    /// A page in the client's language. Its path ends with a slash; without it, the answer leads there.
    static func page(
        _ call: OpenCall<NoBody>, at path: String, _ body: (AppLanguage) throws -> TaggedBody?
    ) throws -> Answer<NoContent> {
        guard call.request.uri.path.hasSuffix("/") else {
            let query = call.request.uri.query.map { "?\($0)" } ?? ""
            return .redirect(.permanentRedirect, to: path + query)
        }
        return try answer(call, language: nil, .html, body)
    }

    /// - Parameter language: `nil` if the client's preference decides.
    private static func answer(
        _ call: OpenCall<NoBody>, language: AppLanguage?, _ type: FileType, _ body: (AppLanguage) throws -> TaggedBody?
    ) throws -> Answer<NoContent> {
        let language = language ?? AppLanguage(accepted: call.request.headers[.acceptLanguage])
        guard let body = try body(language) else { throw Problem(.notFound, "The app has no \(language.rawValue) page.") }
        var answer = Answer(body: body, type.contentType, for: call)
        answer.headers[.vary] = "Accept-Encoding, Accept-Language"
        return answer
    }

    private var installed: AppFiles {
        get throws { try files.installed }
    }
}

extension AppFiles? {
    /// - Throws: ``Problem`` if there are no files.
    var installed: AppFiles {
        get throws {
            guard let files = self else {
                throw Problem(
                    .notFound,
                    "The students' app is not installed: the folders mobile-student-intranet_Gateway.resources, …_App.resources and "
                        + "…_Pages.resources beside msi-gateway are incomplete. The API works without it; /openapi.json describes it."
                )
            }
            return files
        }
    }
}
