import FoundationEssentials
import Base
import Schemas
import TestSupport
import Testing

@testable import Broadcasts
@testable import Bus
@testable import Cube
@testable import FCMRelay
@testable import Gateway
@testable import MessageLog
@testable import People
@testable import ServiceKit
@testable import Study
@testable import WebPush

/// Extreme numbers in every number of every command. A service registers its commands with their types, so a new one is included by
/// itself.
@Suite("Extreme numbers on the bus", .timeLimit(.minutes(10)))
struct ExtremeBusNumberTests {
    private static let plans: [(service: ServiceEntry, plan: @Sendable (Wiring) async throws -> ServicePlan)] = [
        (.fcmRelay, { try await .fcmRelay($0) }), (.people, { try await .people($0) }), (.cube, { try await .cube($0) }),
        (.messageLog, { try await .messageLog($0) }), (.broadcast, { try await .broadcast($0) }),
        (.webpush, { try await .webPush($0) }), (.study, { try await .study($0) }),
    ]

    @Test("Every number of every command has a range; a service answers each extreme number, and runs afterwards")
    func commands() async throws {
        #expect(Set(Self.plans.map(\.service.name)) == Set(ServiceEntry.behindGateway.map(\.name)))
        for (service, plan) in Self.plans {
            try await withTemporaryFolder { folder in
                try await ServiceAccountFile.json(tokenURI: "https://127.0.0.1:1/token")
                    .write(to: URL(filePath: folder + "/account.json"))
                let environment = [
                    "MSI_STATE_DIR": folder, "MSI_FCM_ENDPOINT": "https://127.0.0.1:1",
                    "MSI_FCM_SERVICE_ACCOUNT_FILE": folder + "/account.json",
                ]
                let settings = try await SettingValues(arguments: [], environment: environment, accepted: [])
                let running = try await plan(Wiring(settings: settings, logger: quietLogger))
                let servers = running.services.compactMap {
                    ($0 as? CommandServer) ?? ($0 as? RelayService)?.server ?? ($0 as? WebPushServer)?.server
                }
                let server = try #require(servers.first)
                let handlers = server.dispatcher.router.handlers
                let commands = try handlers.map { try #require($1.command, "\($0) has no type") }
                #expect(commands.count > 5)
                try await running.run {
                    try await withBus { bus in
                        let client = try CommandClient(
                            bus: bus, endpoints: ["ipc://\(folder)/run/\(service.socketFile(.commands))"], logger: quietLogger)
                        for command in commands { try await Self.check(command, client) }
                    }
                }
            }
        }
    }

    /// The commands with rules that a schema cannot express, so that nothing can be learned from their types.
    private static let samples: [String: JSONValue] = [
        AddBroadcast.name: ["draft": draft],
        UpdateBroadcast.name: ["id": 5, "draft": draft.merging(["relativetime": 2]), "unchanged_since": 1],
        ListResources<MessageTemplate>.name: ["limit": 5],
        AddResource<MessageTemplate>.name: ["draft": ["name": "n", "title": "t", "desc": "d", "message": "m"]],
        RelayMessage.name: message,
        FanOutMessage.name: message,
        AddSubscription.name: ["endpoint": "https://x", "p256dh": "x", "auth": "x", "alerts": [], "information": []],
        ChangeSubscription.name: ["id": "6b0187feff0dafac2833f431", "secret": "s", "alerts": [], "information": []],
        MoveSubject.name: [
            "channelID": "6b0187feff0dafac2833f431", "areaID": "6b0187feff0dafac2833f432",
            "subjectID": "6b0187feff0dafac2833f433",
            "to": ["channel": "6b0187feff0dafac2833f431", "area": "6b0187feff0dafac2833f434"], "unchanged_since": 1,
        ],
        SubscribePhones.name: ["topic_key": topic, "tokens": ["x"]],
        UnsubscribePhones.name: ["topic_key": topic, "tokens": ["x"]],
    ]
    private static let draft: JSONValue = [
        "id": 5, "type": 4, "expiry": 60, "lifetime": 3_600_000, "repeat": 15,
        "actiondata": ["feature": "f", "notificationtype": "enable-feature", "share": 50],
    ]
    private static let message: JSONValue = [
        "msi_key": "6b0187feff0dafac2833f431", "title": "t", "desc": "d", "message": "m", "topic_key": topic,
        "distribution": "Alert", "timestamp": 1_795_262_462_399, "ttl": 60, "expires": 1_795_262_462_399,
    ]
    private static let topic: JSONValue = "6b0187feff0dafac2833f431-6b0187feff0dafac2833f432-6b0187feff0dafac2833f433"

    /// The numbers of a command, and documents to put others into.
    private static func learn(_ command: any Command.Type) throws -> (places: [NumberPlace], documents: [JSONValue]) {
        if let sample = samples[command.name] { return (NumberPlace.all(of: sample), [sample]) }
        let recorder = SchemaRecorder(.request)
        let schema = try recorder.schema(of: command)
        let components = recorder.components
        let places = NumberPlace.all(in: schema) { components[String($0.split(separator: ":").last ?? "")] }
        for place in places { #expect(place.hasRange, "\(command.name) \(place) has no range: \(place.schema)") }
        let example = SchemaExample(components: .object(components.map { .init("request:" + $0, $1) })).document(for: schema)
        return (places, [try valid(command, recorder), example])
    }

    private static func check(_ command: any Command.Type, _ client: CommandClient) async throws {
        let (places, documents) = try learn(command)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, place) in places.enumerated() {
                for number in triedNumbers(inPlace: index + command.name.utf8.count) {
                    for document in documents {
                        let payload = place.setting(.number(number), in: document).data
                        group.addTask {
                            let failure = await failure(of: command.name, payload, client)
                            let comment: Comment = "\(command.name) \(place) = \(number): \(failure?.description ?? "ok")"
                            #expect(failure?.status != .internal && failure?.status != .deadlineExceeded, comment)
                            if place.excludes(number) { #expect(failure?.status == .invalid, comment) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        _ = try await client.request(Ping())
    }

    /// A document that passes the command's check.
    private static func valid<Value: Command>(_ type: Value.Type, _ recorder: SchemaRecorder) throws -> JSONValue {
        let value = try #require(try recorder.recording(of: type).value as? Value, "\(Value.name)")
        return try JSONValue(parsing: try JSONCoder.encode(value))
    }

    private static func failure(of name: String, _ payload: Data, _ client: CommandClient) async -> CommandFailure? {
        do throws(CommandFailure) {
            _ = try await client.request(name, payload: payload, timeout: .seconds(60), context: CallerContext(actor: "root"))
            return nil
        } catch {
            return error
        }
    }
}
