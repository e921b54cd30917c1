import App
import FoundationEssentials
import HTTPRouting
import HTTPTypes
import Hummingbird
import Base
import MobileApp
import NIOCore
import Pages
import ServiceLifecycle

/// Serves the phone's page and the page's requests, on loopback only.
struct PhonePage: Sendable {
    let phone: SimulatedPhone
    private let files: PageFiles

    /// - Throws: An error of the file system, if the page's files are not installed.
    init(phone: SimulatedPhone) throws {
        self.phone = phone
        files = try PageFiles()
    }

    static let maxBodyBytes = 4_096

    var router: Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: OwnPageOnly())
        addFiles(to: router)
        addControls(to: router)
        addMessages(to: router)
        BroadcastActions(phone: phone).add(to: router)
        AccountActions(phone: phone).add(to: router)
        return router
    }

    private func addFiles(to router: Router<BasicRequestContext>) {
        router.get("/") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: files.page(phone.memory.system.control.language)))
        }
        router.get("/files/:version/**") { request, _ in
            let path = request.uri.path.split(separator: "/").dropFirst(2).joined(separator: "/")
            guard let file = files.file(path) else { throw Refusal(.notFound, "there is no file \(path.prefix(100))") }
            return Response(
                status: .ok,
                headers: [
                    .contentType: file.type.contentType, .cacheControl: "public, max-age=31536000, immutable",
                    .xContentTypeOptions: "nosniff",
                ],
                body: ResponseBody(byteBuffer: file.bytes))
        }
        router.get("/events") { request, _ in
            let phone = phone
            let body = ResponseBody { writer in
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    for await _ in phone.changes.watch().cancelOnGracefulShutdown() {
                        var event = ByteBuffer()
                        event.write(event: "state", data: try await phone.state().data)
                        try await writer.write(event)
                        // Bursts are one event.
                        try await Task.sleep(for: .milliseconds(50))
                    }
                }
                try await writer.finish(nil)
            }
            return Response(
                status: .ok,
                headers: [.contentType: ServerSentEvent.contentType, .cacheControl: "no-store", .connection: "close"],
                body: body)
        }
    }

    private func addControls(to router: Router<BasicRequestContext>) {
        router.get("/control") { _, _ in Self.answer(phone.memory.system.control.json) }
        router.put("/control") { request, _ in
            let change = try await Self.body(PhoneControl.Change.self, of: request)
            let offsets = -PhoneControl.maxClockOffset...PhoneControl.maxClockOffset
            if let offset = change.clockOffset, !offsets.contains(offset) {
                throw Refusal(.badRequest, "clock_offset: expected seconds within ten years, found \(offset)")
            }
            return Self.answer(try phone.change(change).json)
        }
        router.post("/permission") { request, _ in
            let granted = try await Self.flag("granted", of: request)
            try phone.platform.answer(granted ? .granted : .denied)
            return Self.noContent
        }
        router.put("/settings") { request, _ in
            let receipts = try await Self.flag("receipts", of: request)
            try await phone.app.receipts.set(receipts)
            phone.changes.tell()
            return Self.noContent
        }
        router.put("/quiet-hours") { request, _ in
            let times = try await Self.body(DayTime.Period.self, of: request)
            guard let from = DayTime.minutes(times.from), let to = DayTime.minutes(times.to),
                let hours = QuietHours(from: from, to: to)
            else { throw Refusal(.badRequest, "from, to: expected two different times, such as 22:00 and 07:00") }
            try await phone.app.badge.set(hours)
            phone.changes.tell()
            return Self.noContent
        }
        router.delete("/quiet-hours") { _, _ in
            try await phone.app.badge.set(nil)
            phone.changes.tell()
            return Self.noContent
        }
        router.post("/refresh") { _, _ in try await Self.look(phone.app) }
        router.delete("/popups") { _, _ in
            phone.platform.popups.removeAll()
            phone.changes.tell()
            return Self.noContent
        }
        router.delete("/popups/:id") { _, context in
            phone.platform.popups.remove(try context.parameters.require("id"))
            phone.changes.tell()
            return Self.noContent
        }
        router.post("/popups/:id/open") { _, context in
            let id = try context.parameters.require("id")
            if let popup = phone.platform.popups.all.first(where: { $0.id == id }) {
                // The operating system passes the tap to the app, even if it does not run. A failure does not keep the app from opening.
                _ = try? await phone.app.broadcasts.opened(phone.platform.tapped(popup))
            }
            phone.platform.popups.remove(id)
            _ = try phone.change(PhoneControl.Change(killed: false, foreground: true))
            return Self.noContent
        }
    }

    private func addMessages(to router: Router<BasicRequestContext>) {
        router.put("/subscriptions/:topic") { request, context in
            let topic = try context.parameters.require("topic")
            let wanted = try await Self.flag("subscribed", of: request)
            do {
                if wanted {
                    try await phone.app.subscriptions.subscribe(topic)
                } else {
                    try await phone.app.subscriptions.unsubscribe(topic)
                }
            } catch is Subscriptions.ForcedSubject {
                throw Refusal(.conflict, "a required subject cannot be left")
            } catch {
                // FCM cannot be reached. If the choice is stored, it counts, and the app tells FCM later.
                guard try await phone.app.subscriptions.isSubscribed(topic) == wanted else { throw error }
            }
            if wanted { phone.app.refresh() }
            phone.changes.tell()
            return Self.noContent
        }
        router.put("/subscriptions/:topic/mute") { request, context in
            let topic = try context.parameters.require("topic")
            let wanted = try await Self.flag("muted", of: request)
            do {
                try await phone.app.subscriptions.mute(topic, wanted)
            } catch is Subscriptions.ForcedSubject {
                throw Refusal(.conflict, "a required subject cannot be muted")
            } catch is Subscriptions.NotSubscribed {
                throw Refusal(.conflict, "only a subject that the phone is subscribed to can be muted")
            } catch {
                // Stored, as for a subscription.
                let isMuted = try await phone.app.subscriptions.all().first { $0.id == topic }?.isMuted
                guard isMuted == wanted else { throw error }
            }
            phone.changes.tell()
            return Self.noContent
        }
        router.post("/subscriptions/compare") { _, _ in
            do {
                try await phone.app.subscriptions.compare()
            } catch {
                throw Refusal(.serviceUnavailable, "the topics that FCM has are unknown: \(error)")
            }
            // Fetches the messages of topics that FCM had lost.
            return try await Self.look(phone.app)
        }
        MessageActions(phone: phone, files: files).add(to: router)
    }

    /// Lets the app poll the hub, and answers when the app has everything.
    private static func look(_ app: MobileApp) async throws -> Response {
        do {
            try await app.look()
        } catch is MobileApp.NotRunning {
            throw Refusal(.conflict, "the app does not run")
        } catch {
            throw Refusal(.serviceUnavailable, "the look at the hub has failed: \(error)")
        }
        return noContent
    }

    static let noContent = Response(status: .noContent)

    static func answer(_ document: JSONValue) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: document.data)))
    }

    /// - Throws: ``Refusal``.
    static func body<Document: Decodable>(
        _ type: Document.Type, of request: Request, upTo limit: Int = PhonePage.maxBodyBytes
    ) async throws -> Document {
        let bytes = try await request.body.collect(upTo: limit)
        do {
            return try JSONCoder.decodeStrictly(type, from: Data(bytes.readableBytesView))
        } catch {
            throw Refusal(.badRequest, "\(error)")
        }
    }

    /// The only member of a body.
    static func flag(_ name: String, of request: Request) async throws -> Bool {
        let document = try await body([String: Bool].self, of: request)
        guard document.count == 1, let value = document[name] else {
            throw Refusal(.badRequest, "expected {\"\(name)\":true} or {\"\(name)\":false}")
        }
        return value
    }
}

/// A request that is refused: `{"error":"…"}`.
struct Refusal: Error, HTTPResponseError {
    let status: HTTPResponse.Status
    let detail: String

    init(_ status: HTTPResponse.Status, _ detail: String) {
        self.status = status
        self.detail = detail
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response = PhonePage.answer(["error": .string(detail)])
        response.status = status
        return response
    }
}

/// Refuses requests from pages of other origins, including names that resolve to this machine.
struct OwnPageOnly: RouterMiddleware {
    func handle(
        _ request: Request, context: BasicRequestContext, next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        let authority = request.head.authority ?? request.headers[.init("Host")!] ?? ""
        let host = authority.split(separator: ":").first.map(String.init) ?? ""
        guard ["127.0.0.1", "localhost"].contains(host) else {
            throw Refusal(.forbidden, "the phone is at http://127.0.0.1 only, not at \(authority.prefix(100))")
        }
        if let origin = request.headers[.origin], origin != "http://\(authority)" {
            throw Refusal(.forbidden, "only the phone's own page may do this, not \(origin.prefix(100))")
        }
        var response = try await next(request, context)
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https:; connect-src 'self'; base-uri 'none'; "
            + "form-action 'none'; frame-ancestors 'none'"
        return response
    }
}

/// The page's files, in memory.
struct PageFiles: Sendable {
    private let pages: [PhoneControl.Language: ByteBuffer]
    private let site: Site

    /// - Throws: An error of the file system or `SchemaViolation`, if they are not installed.
    init() throws {
        let site = try Site(reading: [.shared, AppViews.folder, PageFolder(of: "Phone")])
        // It is new with each start, so that browsers load changed files.
        let version = String(Int(Date().timeIntervalSince1970 * 1_000), radix: 36)
        pages = Dictionary(
            uniqueKeysWithValues: try PhoneControl.Language.allCases.map { language in
                var page = Page(first: "lib/theme.js", styles: ["style/phone.css", AppViews.style], module: "phone.js")
                (page.language, page.isRightToLeft) = (language.rawValue, language == .ar)
                page.texts = [AppViews.texts]
                page.preloads = (["common"] + page.texts).map { "text/\(language.rawValue)/\($0).json" }
                return (language, ByteBuffer(string: try site.html(of: page, root: "/files/\(version)")))
            })
        self.site = site
    }

    /// A file by its path, without the version.
    func file(_ path: String) -> (type: FileType, bytes: ByteBuffer)? {
        guard let type = FileType(of: path), type != .html, let bytes = site.files[path] else { return nil }
        return (type, ByteBuffer(bytes: bytes))
    }

    /// The page in the phone's language.
    func page(_ language: PhoneControl.Language) -> ByteBuffer { pages[language] ?? ByteBuffer() }

    /// A text of the page's catalogue; the key if there is none.
    func text(_ key: String, _ language: PhoneControl.Language) -> String {
        site.text(key, in: language.rawValue, parts: ["common", AppViews.texts])
    }
}
