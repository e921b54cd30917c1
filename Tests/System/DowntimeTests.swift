import AsyncHTTPClient
import FoundationEssentials
import Glibc
import HTTPRouting
import Base
import NIOCore
import NIOHTTP1
import ServiceKit
import TestSupport
import Testing

extension HarmTests.WithoutSupervisor {
    /// What a phone shows while the hub is away (seed 001, the first example).
    @Suite("A downtime", .timeLimit(.minutes(10)))
    struct DowntimeTests {
        private static func body(_ title: String, type: Int64 = 1, id: Int64? = nil) -> JSONValue {
            var body: JSONValue = [
                "type": .integer(type), "expiry": 60,
                "actiondata": [
                    "translations": [
                        "en": ["title": .string(title), "msg": "Back at noon."],
                        "ar": ["title": .string("\(title) بالعربية"), "msg": "حتى الظهر"],
                    ]
                ],
            ]
            body["id"] = id.map { .integer($0) }
            return body
        }

        /// Starts another phone.
        ///
        /// - Parameter gateway: The port of its hub.
        private func phone(
            _ name: String, _ services: SeparateServices, gateway: Int, settings: [String: String] = [:]
        ) async throws -> Portal {
            let process = try await services.start(
                "msi-phone",
                settings: settings.merging([
                    "MSI_PHONE_NAME": name, "MSI_PHONE_PORT": "0", "MSI_GATEWAY_URL": "http://127.0.0.1:\(gateway)",
                    "MSI_FCM_EMULATOR_PORT": "\(services.fcm.port)",
                ]) { $1 })
            return Portal(port: try process.port, http: services.portal.http, token: nil)
        }

        private func control(_ phone: Portal, _ change: JSONValue) async throws {
            let answer = try await phone.call(.PUT, "/control", change)
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        }

        /// What the phone's page shows.
        private func state(of phone: Portal) async throws -> JSONValue {
            let request = HTTPClientRequest(url: "http://127.0.0.1:\(phone.port)/events")
            let response = try await phone.http.execute(request, deadline: .distantFuture)
            var parser = EventStreamParser()
            for try await bytes in response.body {
                guard let event = parser.receive(bytes.readableBytesView).first else { continue }
                return try JSONValue(parsing: Data(event.data.utf8))
            }
            throw TooLate("the phone's events have ended")
        }

        private func titles(_ list: String, on phone: Portal) async throws -> [String] {
            (try await state(of: phone)[list]?.elements ?? []).compactMap { $0["title"]?.string }
        }

        /// Waits until FCM has the phone subscribed to the topic of every phone.
        private func joined(_ name: String, _ services: SeparateServices) async throws {
            try await eventually("FCM has the phone", every: .milliseconds(200)) {
                let file = FileManager.default.contents(atPath: "\(services.folder)/phones/\(name).json")
                guard let file, let token = try JSONValue(parsing: file)["token"] else { return false }
                let answer = try await services.portal.with(token: nil).call(.POST, "/phone/topics", ["token": token])
                return try answer.status == 200 && answer.json["topics"]?.elements?.contains("general") == true
            }
        }

        private func send(_ broadcast: JSONValue, by portal: Portal) async throws {
            let answer = try await portal.call(.POST, "/broadcast", broadcast)
            guard answer.status == 201 else { throw UnexpectedAnswer(answer) }
        }

        @Test(
            "An app that is killed when the push comes, and is started while the hub is away, shows the text: on iOS by itself, on Android by a tap",
            arguments: ["ios", "android"])
        func killed(platform: String) async throws {
            try await SharedServices.use { services in
                for name in ["msi-fcm-relay", "msi-message-log", "msi-broadcast"] { _ = try await services.start(name) }
                let hub = try await services.startGateway(settings: SystemTests.noLimits)
                let name = "killed-\(platform)"
                let title = "Maintenance \(platform)"
                let phone = try await phone(name, services, gateway: hub.portal.port)
                // The pop-up has the default language alone, and the data has the phone's.
                try await control(phone, ["platform": .string(platform), "language": "ar"])
                if platform == "ios" {
                    #expect(try await phone.call(.POST, "/permission", ["granted": true]).status == 204)
                }
                try await joined(name, services)
                try await control(phone, ["killed": true, "foreground": false])
                try await send(Self.body(title), by: hub.portal)
                try await eventually("the system shows the pop-up", every: .milliseconds(200)) {
                    try await titles("popups", on: phone).contains(title)
                }
                #expect(try await !titles("broadcasts", on: phone).contains { $0.hasPrefix(title) })
                await hub.process.stop()
                if platform == "ios" {
                    try await control(phone, ["killed": false, "foreground": true])
                } else {
                    let popups = try await state(of: phone)["popups"]?.elements ?? []
                    let id = try #require(popups.first { $0["title"]?.string == title }?["id"]?.string)
                    #expect(try await phone.call(.POST, "/popups/\(id)/open").status == 204)
                }
                try await eventually("the app shows the card", every: .milliseconds(200)) {
                    try await titles("broadcasts", on: phone).contains(title)
                }
                let cards = try await state(of: phone)["broadcasts"]?.elements ?? []
                #expect(cards.contains { $0["title"]?.string == title && $0["message"] == "Back at noon." })
            }
        }

        @Test("A phone whose hub is away reads the file that the broadcast service keeps, from another server")
        func secondSource() async throws {
            try await SharedServices.use { services in
                let folder = services.folder + "/public"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let file = folder + "/broadcasts.json"
                _ = try await services.start("msi-broadcast", settings: ["MSI_BROADCAST_FILE": file])
                // The gateway may find the service that has just started a moment later.
                try await eventually("the hub takes it", every: .milliseconds(200)) {
                    try await services.portal.call(.POST, "/broadcast", Self.body("In the file", type: 2)).status == 201
                }
                try await eventually("the file has it") {
                    let text = FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) }
                    return text?.contains("In the file") == true
                }
                var status = stat()
                #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o644)
                let port = try LoopbackPort.free()
                let server = ["python3", "-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory", folder, "\(port)"]
                _ = try await withProgram("/usr/bin/env", arguments: server) { program in
                    _ = try await program.line { $0.hasPrefix("Serving HTTP") }
                    let phone = try await phone(
                        "second-source", services, gateway: try LoopbackPort.free(),
                        settings: ["MSI_PHONE_BROADCASTS_URL": "http://127.0.0.1:\(port)/broadcasts.json"])
                    try await eventually("the app shows the card", every: .milliseconds(200)) {
                        try await titles("broadcasts", on: phone).contains("In the file")
                    }
                }
            }
        }

        @Test("msi broadcast send needs only the relay, and the broadcast can be entered at the hub later")
        func relayAlone() async throws {
            try await SharedServices.use { services in
                _ = try await services.start("msi-fcm-relay")
                let phone = try await phone("relay-alone", services, gateway: try LoopbackPort.free())
                try await joined("relay-alone", services)
                try await control(phone, ["language": "ar", "foreground": false])
                let file = services.folder + "/downtime.json"
                try Self.body("By the relay", id: 900_001).data.write(to: URL(filePath: file))
                // Standard output has only the line for the hub.
                let errors = services.folder + "/errors.txt"
                let sent = try await runProgram(
                    "/bin/bash",
                    ["-c", #"exec "$0" broadcast send "$1" 2> "$2""#, try BuiltProduct.path(of: "msi"), file, errors],
                    environment: ["MSI_STATE_DIR": services.folder])
                let said = try String(contentsOfFile: errors, encoding: .utf8)
                #expect(sent.exitCode == 0, "\(said)")
                #expect(sent.lines.count == 1, "\(sent.lines)")
                for part in [
                    "general: data: projects/", "general: pop-up: projects/", "a corrected text needs another id",
                    "FCM has accepted broadcast 900001",
                ] {
                    #expect(said.contains(part), "\(said)")
                }
                // The card has the phone's language: it is that of the data, and no pop-up's.
                try await eventually("the app has the card", every: .milliseconds(200)) {
                    try await titles("broadcasts", on: phone).contains("By the relay بالعربية")
                }
                try await eventually("the system shows the pop-up", every: .milliseconds(200)) {
                    try await titles("popups", on: phone).contains("By the relay")
                }
                #expect(try await phone.call(.DELETE, "/popups").status == 204)

                for name in ["msi-message-log", "msi-broadcast"] { _ = try await services.start(name) }
                let line = try #require(sent.lines.first { $0.hasPrefix("{") })
                try await eventually("the hub takes it", every: .milliseconds(200)) {
                    let answer = try await services.portal.call(.POST, "/broadcast", try JSONValue(parsing: Data(line.utf8)))
                    return try answer.status == 201 && answer.json["id"] == 900_001 && answer.json["version"] == 1
                }
                try await eventually("FCM has the hub's push", every: .milliseconds(200)) {
                    let answer = try await services.portal.call(.GET, "/broadcast/900001")
                    return try answer.json["pushed"]?["state"] == "relayed"
                }
                // A push that is sent later has come, so a pop-up of the hub would have as well.
                try await send(Self.body("Later", type: 2, id: 900_003), by: services.portal)
                try await eventually("the app has the later one", every: .milliseconds(200)) {
                    try await titles("broadcasts", on: phone).contains("Later بالعربية")
                }
                #expect(try await !titles("popups", on: phone).contains("By the relay"))
                let export = services.folder + "/export.json"
                let exported = try await msi(["broadcast", "export", export], in: services.folder)
                #expect(exported.exitCode == 0, "\(exported.lines)")
                let document = try JSONValue(parsing: try #require(FileManager.default.contents(atPath: export)))
                #expect(document["broadcasts"]?.elements?.contains { $0["id"] == 900_001 } == true)
                #expect(document["withdrawn"] != nil)
                let refused = try await msi(["broadcast", "export", export], in: services.folder)
                #expect(refused.exitCode == EX_DATAERR, "\(refused.lines)")
                #expect(refused.lines.contains { $0.contains("--replace") }, "\(refused.lines)")
                let replaced = try await msi(["broadcast", "export", export, "--replace"], in: services.folder)
                #expect(replaced.exitCode == 0, "\(replaced.lines)")
                #expect(replaced.lines.contains { $0.hasSuffix(" withdrawn or over") }, "\(replaced.lines)")
                // The summary is not in the document.
                let printed = try await msi(["broadcast", "export", "/dev/stdout"], in: services.folder)
                #expect(printed.exitCode == 0 && printed.lines.count == 1, "\(printed.lines)")
            }
        }

        @Test("msi broadcast send names what is wrong in the file, and says when no relay answers")
        func refusals() async throws {
            try await SharedServices.use { services in
                let file = services.folder + "/wrong.json"
                var wrong = Self.body("Without an expiry")
                wrong["expiry"] = nil
                try wrong.data.write(to: URL(filePath: file))
                let refused = try await msi(["broadcast", "send", file], in: services.folder)
                #expect(refused.exitCode == EX_DATAERR, "\(refused.lines)")
                #expect(refused.lines.contains { $0.contains("expiry: missing") }, "\(refused.lines)")
                try Self.body("Without an id").data.write(to: URL(filePath: file))
                let unanswered = try await msi(["broadcast", "send", file], in: services.folder)
                #expect(unanswered.exitCode == EX_TEMPFAIL, "\(unanswered.lines)")
                // What was to be sent is said before.
                #expect(unanswered.lines.contains { $0.contains("the broadcast has the id ") }, "\(unanswered.lines)")
                #expect(unanswered.lines.contains { $0.contains("to send it again: {") }, "\(unanswered.lines)")
                #expect(unanswered.lines.contains { $0.contains("the outcome of 2 is unknown") }, "\(unanswered.lines)")
            }
        }
    }
}
