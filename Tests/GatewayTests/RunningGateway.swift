import Bus
import Foundation
@testable import Gateway
@testable import People
import Schemas
@testable import ServiceKit
import TestSupport
import Testing

/// The gateway as a process, with the services that a test needs.
struct RunningGateway {
    let process: ServiceProcess
    let port: Int
    /// The state directory that the gateway shares with the services.
    let folder: String
    /// The bearer token of its requests: the operator's. `nil` for anonymous requests.
    let token: String?

    /// - Parameters:
    ///   - services: The executables of the services to run; by default all that the gateway needs.
    ///   - database: The services' database; `nil` for files.
    ///   - people: Settings of the people service alone.
    ///   - folder: A persistent state directory; `nil` for a temporary one.
    static func with<Result>(
        services: [String] = ServiceEntry.gateway.startDependencies.map(\.executable),
        database: String? = nil, people: [String: String] = [:], in folder: String? = nil, settings: [String: String] = [:],
        isolation: isolated (any Actor)? = #isolation, _ body: (RunningGateway) async throws -> Result
    ) async throws -> Result {
        guard let folder else {
            return try await withTemporaryFolder {
                try await with(
                    services: services, database: database, people: people, in: $0, settings: settings, body)
            }
        }
        // All of them log as the gateway does.
        let shared = settings.filter { $0.key == "MSI_LOG_LEVEL" }.merging(database.map { ["MSI_DATABASE_URL": $0] } ?? [:]) {
            $1
        }
        return try await withServices(services[...], settings: shared, people: people, in: folder) {
            let settings = settings.merging(["MSI_GATEWAY_PORT": "0"]) { given, _ in given }
            return try await withService("msi-gateway", in: folder, settings: settings) { process in
                try await body(RunningGateway(process, in: folder))
            }
        }
    }

    init(_ process: ServiceProcess, in folder: String) throws {
        self.process = process
        self.folder = folder
        token = try TestOperator.token(in: folder)
        port = try process.port
    }

    private init(_ gateway: RunningGateway, token: String?) {
        process = gateway.process
        port = gateway.port
        folder = gateway.folder
        self.token = token
    }

    /// The same gateway with requests of another token.
    func with(token: String?) -> RunningGateway { RunningGateway(self, token: token) }

    /// The header field of the token.
    var authorization: String { "Authorization: Bearer \(token ?? "")" }

    /// Runs a part of a test with services in a folder. The people service runs in the process of the test, unless its settings are
    /// those of a process.
    static func withServices<Result>(
        _ names: ArraySlice<String>, settings: [String: String] = [:], people: [String: String] = [:], in folder: String,
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        guard let name = names.first else { return try await body() }
        let isPeople = name == ServiceEntry.people.executable
        if isPeople, settings["MSI_DATABASE_URL"] == nil { try await TestOperator.prepare(folder) }
        if isPeople, settings["LD_PRELOAD"] == nil {
            return try await PeopleService.run(in: folder, settings: settings.merging(people) { $1 }) {
                try await TestOperator.setUp(in: folder)
                return try await withServices(names.dropFirst(), settings: settings, in: folder, body)
            }
        }
        return try await withService(name, in: folder, settings: settings) { _ in
            if isPeople { try await TestOperator.setUp(in: folder) }
            return try await withServices(names.dropFirst(), settings: settings, people: people, in: folder, body)
        }
    }

    /// One request on a new connection.
    ///
    /// - Parameter headers: With a `Cookie` or an `Authorization`, the token is not sent.
    func request(
        _ method: String, _ target: String, headers: [String: String] = [:], body: String? = nil
    ) async throws -> HTTPAnswer {
        var headers = headers
        if let token, headers["Authorization"] == nil, headers["Cookie"] == nil { headers["Authorization"] = "Bearer \(token)" }
        let answer = try await HTTPConversation.send(
            HTTPConversation.request(method, target, headers: headers, body: body.map { Array($0.utf8) }), to: port)
        return try #require(answer, "the gateway closed the connection on \(method) \(target)")
    }

    /// Repeats a request while a store is too slow for it, as clients do: with a key, so that a message is posted once.
    func requestUntilTaken(
        _ method: String, _ target: String, headers: [String: String] = [:], body: String? = nil
    ) async throws -> HTTPAnswer {
        let key = ["Idempotency-Key": "\(UInt64.random(in: .min ... .max))"]
        var refusal: HTTPAnswer?
        return try await eventually("an answer other than this one to \(method) \(target): \(String(describing: refusal))") {
            let answer = try await request(method, target, headers: headers.merging(key) { $1 }, body: body)
            guard answer.status == 503 else { return answer }
            refusal = answer
            return nil
        }
    }

    /// A subject to send messages under.
    func makeSubject(
        _ distribution: String = "Alert", named channel: String = "n", _ area: String = "n", _ subject: String = "n"
    ) async throws -> SamplePath {
        func make(_ target: String, _ name: String, _ more: String = "") async throws -> [String: Any] {
            let body = #"{"name":"\#(name)","desc":"d"\#(more)}"#
            let answer = try await requestUntilTaken("POST", target, body: body)
            #expect(answer.status == 201, "\(answer)")
            return answer.object
        }
        let channelID = try #require(try await make("/channel", channel)["_id"] as? String)
        let areaID = try #require(try await make("/area/\(channelID)", area)["id"] as? String)
        let opt = #","opt":{"level":"Forced","distribution":"\#(distribution)"}"#
        let made = try await make("/subject/\(channelID)/\(areaID)", subject, opt)
        return SamplePath(
            channel: channelID, area: areaID, subject: try #require(made["id"] as? String),
            topicKey: try #require(made["topic_key"] as? String))
    }
}

/// The identifiers from a channel to a subject.
struct SamplePath {
    let channel: String
    let area: String
    let subject: String
    let topicKey: String

    func message(_ title: String = "t", distribution: String = "Alert") -> String {
        #"{"title":"\#(title)","desc":"d","message":"m","topic_key":"\#(topicKey)","distribution":"\#(distribution)"}"#
    }

    /// A message with one more field.
    func message(and field: String) -> String {
        message().dropLast() + "," + field + "}"
    }
}

/// The people service in the process of the test, with passwords that are hashed fast. By default students may register.
enum PeopleService {
    private static let fastHash = PasswordHash.Parameters(cost: 1 << 4, blockSize: 8, parallelism: 1)

    static func run<Result>(
        in folder: String, settings: [String: String], isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let own = ["MSI_REGISTRATION": "anyone"].merging(settings) { $1 }.merging(["MSI_STATE_DIR": folder]) { $1 }
        let values = try await SettingValues(arguments: [], environment: own, accepted: [])
        let wiring = Wiring(settings: values, logger: quietLogger)
        return try await ServicePlan.people(wiring, hashing: PasswordHashing(parameters: fastHash)).run(body)
    }
}

extension HTTPAnswer {
    /// The last part of a problem's `type`; `nil` if the answer is not a complete problem document.
    var problem: String? {
        let document = object
        guard self["content-type"] == "application/problem+json", document["status"] as? Int == status,
            document["title"] is String, document["detail"] is String,
            document["request_id"] as? String == self["x-request-id"], let type = document["type"] as? String,
            type.hasPrefix("/problems/")
        else { return nil }
        return String(type.dropFirst("/problems/".count))
    }
}

extension Features {
    /// Runs a test with the gateway's features, without any running service.
    static func alone<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Features) async throws -> Result
    ) async throws -> Result {
        let settings = try await SettingValues(arguments: [], environment: [:], accepted: ServiceEntry.gateway.settings)
        return try await withBus { try await body(Features(bus: $0, settings: settings, logger: quietLogger)) }
    }
}
