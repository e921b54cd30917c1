import Foundation
import HTTPTypes
import Base
@testable import Gateway
import TestSupport
import Testing

/// The API's document, as it derives from the declarations.
@Suite("API document")
struct OpenAPITests {
    private static func document() async throws -> OpenAPIDocument {
        try await Features.alone { try OpenAPIDocument($0.sections) }
    }

    @Test("Every route is documented, and the types of its parameters, body and answers have a schema")
    func documentation() async throws {
        try await Features.alone { features in
            for section in features.sections {
                #expect(!section.about.introduction.isEmpty, "\(section.about.title) has no introduction")
                for route in section.routes {
                    #expect(route.documentation?.summary.isEmpty == false, "\(route.method) \(route.path) is not documented")
                    #expect(throws: Never.self, "\(route.method) \(route.path)") {
                        try OpenAPIDocument([(section.about, [route])])
                    }
                }
            }
        }
    }

    @Test("The document has each route once, with another name for each operation")
    func operations() async throws {
        let document = try await Self.document().json
        let routes = try await Features.alone { $0.routes }
        let operations = (document["paths"]?.members ?? []).flatMap { path in
            (path.value.members ?? []).map { ("\($0.name.uppercased()) \(path.name)", $0.value) }
        }
        let expected = routes.map { route in
            "\(route.method.rawValue) " + route.path.replacing(/:(\w+)/) { "{\($0.1)}" }.replacing("**", with: "{path}")
        }
        #expect(operations.map(\.0).sorted() == expected.sorted())
        let names = operations.compactMap { $0.1["operationId"]?.string }
        #expect(Set(names).count == operations.count)
        for (name, operation) in operations {
            let statuses = operation["responses"]?.members?.map(\.name) ?? []
            #expect(Set(statuses).count == statuses.count, "\(name): \(statuses)")
        }
    }

    @Test("Generated clients have every operation of the document", .timeLimit(.minutes(10)))
    func generators() async throws {
        let document = try await Self.document().json
        try await withTemporaryFolder { folder in
            let file = folder + "/openapi.json"
            try document.data.write(to: URL(filePath: file))
            let output = try await PythonScript.run("generate_clients.py", [file] + (Level.isAll ? ["--all"] : []))
            #expect(output.split(separator: "\n").count == (Level.isAll ? 2 : 1), "\(output)")
        }
    }

    @Test("Every kind of problem is documented for a route, except the one for paths without the method")
    func problems() async throws {
        let routes = try await Features.alone { $0.routes }
        let others = Set(ProblemKind.allCases).subtracting(routes.flatMap(\.problems))
        #expect(others.isSubset(of: [.methodNotAllowed, .confirmationRequired]), "\(others)")
    }

    @Test("The strict decoder accepts the example of every body")
    func bodies() async throws {
        let document = try await Self.document().json
        let routes = try await Features.alone { $0.routes }
        for route in routes {
            guard let body = route.body else { continue }
            let path = route.path.replacing(/:(\w+)/) { "{\($0.1)}" }
            let content = document["paths"]?[path]?[route.method.rawValue.lowercased()]?["requestBody"]?["content"]
            guard let json = content?["application/json"] else { continue }
            let example = try #require(json["example"], "\(route.method) \(path) has no example")
            #expect(throws: Never.self, "\(route.method) \(path): \(example)") { try Self.decode(body, example) }
        }
    }

    private static func decode<Body: Decodable>(_ type: Body.Type, _ example: JSONValue) throws {
        _ = try JSONCoder.decodeStrictly(type, from: example.data)
    }

    @Test("Every reference in the document leads to a part of it")
    func references() async throws {
        let document = try await Self.document().json
        func check(_ value: JSONValue) {
            for member in value.members ?? [] {
                if member.name == "$ref", let reference = member.value.string {
                    let target = reference.split(separator: "/").dropFirst().reduce(document as JSONValue?) { $0?[String($1)] }
                    #expect(target != nil, "\(reference)")
                }
                check(member.value)
            }
            for element in value.elements ?? [] { check(element) }
        }
        check(document)
    }

    @Test("The document is open, and is cached by its entity tag")
    func served() async throws {
        try await Features.alone { features in
            try await withRouteServer(features.routes) { port in
                func get(_ headers: [String: String] = [:]) async throws -> HTTPAnswer {
                    let request = HTTPConversation.request("GET", "/openapi.json", headers: headers)
                    return try #require(try await HTTPConversation.send(request, to: port))
                }
                let answer = try await get()
                #expect(answer.status == 200 && answer["content-type"] == "application/json", "\(answer)")
                #expect(answer.object["openapi"] as? String == "3.1.0")
                let tag = try #require(answer["etag"])
                #expect(try await get(["If-None-Match": tag]).status == 304)
                #expect(try await get(["If-None-Match": "\"v1\""]).body == answer.body)
            }
        }
    }
}
