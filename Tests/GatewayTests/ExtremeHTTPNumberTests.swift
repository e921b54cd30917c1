import Base
import ServiceKit
import TestSupport
import Testing

@testable import Gateway

/// Extreme numbers in every number of every operation of the API's document, and in every number within a text.
@Suite("Extreme numbers over HTTP", .timeLimit(.minutes(10)))
struct ExtremeHTTPNumberTests {
    @Test("The gateway answers each extreme number in each parameter and field of each route, and runs afterwards")
    func routes() async throws {
        try await RunningGateway.with(settings: ["MSI_GATEWAY_ADDRESS_REQUESTS": "100000"]) { gateway in
            let document = try await gateway.request("GET", "/openapi.json").json
            let path = try await gateway.makeSubject()
            var (count, places) = (0, 0)
            for item in document["paths"]?.members ?? [] {
                for operation in item.value.members ?? [] {
                    for request in Self.requests(operation, item.name, in: document, path, &places) {
                        count += 1
                        let answer = try await gateway.request(
                            request.method, request.target, headers: request.headers, body: request.body)
                        let comment: Comment = "\(request): \(answer)"
                        #expect(answer.status != 500 && answer.status < 504, comment)
                        #expect(!request.isExcluded || (400..<500).contains(answer.status), comment)
                    }
                }
            }
            #expect(count > (Level.isAll ? 500 : 160))
            #expect(gateway.process.isRunning)
            // On a busy machine a service may answer late once.
            try await eventually("all is well") { try await gateway.request("GET", "/health").status == 200 }
        }
    }

    private struct ExtremeRequest {
        let method: String
        var target: String
        var headers: [String: String] = [:]
        var body: String?
        /// Whether the schema excludes the number.
        var isExcluded = false
    }

    /// - Parameter places: The number of places so far, of all operations.
    private static func requests(
        _ operation: JSONValue.Member, _ path: String, in document: JSONValue, _ subject: SamplePath, _ places: inout Int
    ) -> [ExtremeRequest] {
        // The stream of events has no end.
        let method = path == "/events" ? "HEAD" : operation.name.uppercased()
        let parameters = operation.value["parameters"]?.elements ?? []
        let components = document["components"]?["schemas"] ?? [:]
        let example = SchemaExample(components: components)
        func target(replacing name: String? = nil, by value: String = "") -> String {
            let identifiers = ["channelID": subject.channel, "areaID": subject.area, "subjectID": subject.subject]
            var target = path
            var query: [String] = []
            for parameter in parameters {
                guard let known = parameter["name"]?.string, parameter["in"] != "header" else { continue }
                let isReplaced = known == name
                let sample = example.document(for: parameter["schema"] ?? [:])
                let text = isReplaced ? value : identifiers[known] ?? sample.string ?? sample.text
                if parameter["in"] == "path" {
                    target = target.replacing("{\(known)}", with: text)
                } else if isReplaced || parameter["required"] == true {
                    query.append("\(known)=\(text)")
                }
            }
            return target + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        }
        let json = operation.value["requestBody"]?["content"]?["application/json"]
        let hasBody = operation.value["requestBody"] != nil
        let body = hasBody ? json?["example"]?.text ?? "text" : nil
        var requests: [ExtremeRequest] = []
        for parameter in parameters {
            guard let name = parameter["name"]?.string, let schema = parameter["schema"] else { continue }
            let number = NumberPlace.all(in: schema) { components[$0] }.first
            let sample = example.document(for: schema)
            let text = parameter["example"]?.string ?? sample.string ?? sample.text
            guard number != nil || text.contains(where: \.isNumber) else { continue }
            places += 1
            for extreme in triedNumbers(inPlace: places) {
                let value = number == nil ? text.replacing(/[0-9]+/, with: extreme, maxReplacements: 1) : extreme
                var request = ExtremeRequest(method: method, target: target(), body: body)
                if parameter["in"] == "header" {
                    request.headers[name] = value
                } else {
                    request.target = target(replacing: name, by: value)
                    request.isExcluded = number?.excludes(extreme) ?? false
                }
                requests.append(request)
            }
        }
        guard let schema = json?["schema"], let sample = json?["example"] else { return requests }
        for place in NumberPlace.all(in: schema, { components[$0] }) {
            places += 1
            for extreme in triedNumbers(inPlace: places) {
                requests.append(
                    ExtremeRequest(
                        method: method, target: target(), body: place.setting(.number(extreme), in: sample).text,
                        isExcluded: place.excludes(extreme)))
            }
        }
        return requests
    }
}
