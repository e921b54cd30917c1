import Base
import Bus
import Foundation
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// The archive as a CSV file, over HTTP.
@Suite("Export of the archive", .timeLimit(.minutes(10)))
struct HistoryExportTests {
    private static let header = "\u{feff}id,time,state,channel,area,subject,title,description,message,sender,reason"

    @Test("All messages that match are in the file, which is not a formula in any cell")
    func export() async throws {
        try await RunningGateway.with { gateway in
            let path = try await gateway.makeSubject()
            let formula = try await gateway.post(path.message("=cmd()"))
            let text = path.message("a,b").replacing(#""message":"m""#, with: #""message":"two\nlines, \"quoted\"""#)
            let long = try await gateway.post(text)
            let recalled = try await gateway.post(path.message(and: #""delay":3600"#))
            _ = try await gateway.request("DELETE", "/message/\(recalled)", body: #"{"reason":"too early"}"#)
            for (query, headers) in [("?format=csv&limit=1", [:]), ("?q=d", ["Accept": "text/csv;q=0.9, */*;q=0.1"])] {
                let answer = try await gateway.request("GET", "/message" + query, headers: headers)
                #expect(answer.status == 200 && answer["content-type"]?.hasPrefix("text/csv") == true, "\(answer)")
                #expect(answer["content-disposition"] == "attachment; filename=\"messages.csv\"")
                #expect(answer["vary"] == "Accept, Accept-Encoding" && answer["content-encoding"] == nil)
                let lines = answer.text.components(separatedBy: "\r\n")
                #expect(lines.count == 5 && lines[0] == Self.header && lines.last == "")
                #expect(lines[1].hasSuffix(",recalled,n,n,n,t,d,m,admin,too early"))
                #expect(lines[2].hasPrefix("\(long),2") && lines[2].contains("Z,pending,n,n,n,\"a,b\",d,"))
                #expect(lines[2].contains("\"two\nlines, \"\"quoted\"\"\",admin,"))
                #expect(lines[3].hasPrefix("\(formula),") && lines[3].contains(",\"'=cmd()\",d,m,admin,"))
            }
            let none = try await gateway.request("GET", "/message?format=csv&state=recalled&to=1")
            #expect(none.status == 200 && none.text == Self.header + "\r\n")
            #expect(try await gateway.request("GET", "/message?format=json").messages.count == 3)
            let refused = try await gateway.request("GET", "/message?format=xml")
            #expect(refused.status == 400 && refused.object["field"] as? String == "format", "\(refused)")
        }
    }

    @Test("An export of several pages has every message once, and to each caller only those that the history shows it")
    func pages() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let (open, anns) = (SamplePath(cube.open), SamplePath(cube.anns))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<430 {
                    let path = number % 10 == 0 ? anns : open
                    group.addTask { _ = try await gateway.post(path.message("\(number)")) }
                    if number >= 8 { try await group.next() }
                }
                try await group.waitForAll()
            }
            let stored = try await gateway.allKeys()
            #expect(stored.count == 430)
            #expect(try await gateway.request("GET", "/message?format=csv").exportedKeys == stored)
            let bob = try await gateway.newSession("bob")
            #expect(try await bob.request("GET", "/message?format=csv").exportedKeys.count == 387)
        }
    }

    @Test("A line says why components are not accepted, each reason once")
    func reasons() {
        var message = Message.example
        message.timestamp = 1_763_712_000_123
        let start = "\(message.msiKey),2025-11-21T08:00:00.123Z,"
        let rest = ",Campus,Weather,Storms,Campus closed,Please stay at home,All lectures of today are cancelled.,ann,"
        #expect(CSVLine(message).text == "\(start)relayed\(rest)\r\n")
        let error = DeliveryError(class: .permanent, code: "INVALID_ARGUMENT", message: "Too long.")
        message.relay.state = .failed
        for index in message.relay.components.indices {
            (message.relay.components[index].state, message.relay.components[index].error) = (.failed, error)
        }
        #expect(CSVLine(message).text == "\(start)failed\(rest)INVALID_ARGUMENT: Too long.\r\n")
        message.relay.components[0].state = .accepted
        message.relay.components[1].error = DeliveryError(class: .retryable, code: "NETWORK", message: "No answer.")
        #expect(CSVLine(message).text == "\(start)failed\(rest)NETWORK: No answer.\r\n")
    }
}

extension RunningGateway {
    /// The keys of all messages in the history, page by page.
    fileprivate func allKeys() async throws -> [String] {
        var (keys, path) = ([String](), String?("/message?limit=200"))
        while let next = path {
            let answer = try await request("GET", next)
            keys += answer.messages.compactMap { $0["msi_key"] as? String }
            path = answer.object["next"] as? String
        }
        return keys
    }
}

extension HTTPAnswer {
    /// The keys of the messages in a CSV file whose texts have no newlines.
    fileprivate var exportedKeys: [String] {
        text.components(separatedBy: "\r\n").dropFirst().dropLast().map { String($0.prefix(24)) }
    }
}
