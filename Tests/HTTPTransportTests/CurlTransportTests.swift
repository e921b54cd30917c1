import FoundationEssentials
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPTransport

@Suite("The HTTP transport")
struct CurlTransportTests {
    private func request(
        _ url: String, _ path: String = "/", body: String = "x", within time: Duration = .seconds(20)
    ) -> HTTPTransportRequest {
        HTTPTransportRequest(
            url: url + path, headers: ["content-type: text/plain", "x-test: 1"], body: Data(body.utf8), deadline: .now + time)
    }

    private func error(_ transport: CurlTransport, _ request: HTTPTransportRequest) async -> TransportError? {
        do {
            _ = try await transport.send(request)
            Issue.record("answered")
            return nil
        } catch {
            return error
        }
    }

    private func code(_ outcome: HTTPTransportOutcome) -> TransportError.Code? {
        if case .failure(let error) = outcome { error.code } else { nil }
    }

    @Test("A request is posted, and its answer is read")
    func postsAndReadsTheAnswer() async throws {
        try await withTransport { _ in
            .init(429, "wörds", headers: [.contentType: "text/html", .retryAfter: "7"])
        } _: { server, transport in
            let body = String(repeating: "quote \" and 🎓 and مرحبا ", count: 100)
            let response = try await transport.send(request(server.url, "/v1/a:b", body: body))
            #expect(response.status == 429)
            #expect(response.retryAfter == "7")
            #expect(response.body == Data("wörds".utf8))
            let received = try #require(server.requests.first)
            #expect(received.path == "/v1/a:b")
            #expect(received.body == Data(body.utf8))
            #expect(received.headers[.contentType] == "text/plain")
            #expect(received.headers[HTTPField.Name("x-test")!] == "1")

            // The next answer contains nothing of this one.
            _ = try await transport.send(request(server.url, body: ""))
            #expect(server.requests.last?.body == Data())
        }
    }

    /// Answers come in another order than their requests, and one is missing.
    @Test("Each request of a send gets its own answer")
    func requestsOfOneSendHaveEachTheirOwnAnswer() async throws {
        try await withTransport { request in
            switch String(decoding: request.body, as: UTF8.self) {
            case "slow":
                try await Task.sleep(for: .milliseconds(100))
                return .init(200, "slow")
            case "never":
                try await Task.sleep(for: .seconds(60))
                return .init(200)
            case "dropped":
                try await request.dropConnection()
                return .init(200)
            case let body: return .init(201, body)
            }
        } _: { server, transport in
            let outcomes = await transport.send(["slow", "quick"].map { request(server.url, body: $0) })
            let bodies = try outcomes.map { try $0.get().body }
            #expect(bodies == [Data("slow".utf8), Data("quick".utf8)])
            let late = await transport.send(
                [request(server.url, body: "never", within: .milliseconds(300)), request(server.url, body: "x")])
            #expect(code(late[0]) == .timeout)
            #expect(code(late[1]) == nil)
            let broken = await transport.send([request(server.url, body: "dropped")])
            #expect(code(broken[0]) == .reset)
            #expect(await transport.send([HTTPTransportRequest]()).isEmpty)
        }
    }

    @Test("A cancelled task abandons all requests of its send")
    func whoeverIsCancelledLeavesAllRequestsOfASend() async throws {
        try await withTransport { request in
            if request.path == "/slow" { try await Task.sleep(for: .seconds(60)) }
            return .init(200)
        } _: { server, transport in
            let sending = Task { await transport.send(["/slow", "/quick", "/slow"].map { request(server.url, $0) }) }
            try await eventually { server.requests.count == 3 }
            sending.cancel()
            let outcomes = await sending.value
            #expect(code(outcomes[0]) == .cancelled)
            #expect(code(outcomes[2]) == .cancelled)
            _ = try await transport.send(request(server.url))
        }
    }

    @Test("Many requests share a few connections")
    func manyRequestsShareFewConnections() async throws {
        try await withTransport { request in
            try await Task.sleep(for: .milliseconds(20))
            return .init(200, String(decoding: request.body, as: UTF8.self))
        } configuration: {
            $0.connectionsPerHost = 3
            $0.streamsPerConnection = 20
        } _: { server, transport in
            try await concurrently(500) { number in
                let response = try await transport.send(request(server.url, body: "\(number)"))
                #expect(response.body == Data("\(number)".utf8))
            }
            #expect(server.requests.count == 500)
            // More than one, because 20 streams are not enough for 500 requests at once.
            #expect((2...3).contains(server.connections))
        }
    }

    @Test("No second connection is opened while one is enough")
    func oneConnectionWhereItIsEnough() async throws {
        try await withTransport { _ in
            .init(200)
        } _: { server, transport in
            for _ in 0..<20 { _ = try await transport.send(request(server.url)) }
            #expect(server.connections == 1)
        }
    }

    @Test("Redirects are not followed")
    func redirectsAreNotFollowed() async throws {
        try await withTransport { _ in
            .init(302, headers: [.location: "/elsewhere"])
        } _: { server, transport in
            let answer = try await transport.send(request(server.url))
            #expect(answer.status == 302)
            #expect(server.requests.count == 1)
        }
    }

    @Test("URLs of other protocols are refused")
    func otherProtocolsAreRefused() async throws {
        let transport = try CurlTransport(.sample())
        let file = await error(transport, request("file:///etc/passwd"))
        let plain = await error(transport, request("http://127.0.0.1:1/"))
        await transport.close()
        #expect(file?.code == .other)
        #expect(plain?.code == .other)
        #expect(plain?.mayHaveBeenProcessed == false)
    }

    @Test("Without a server, a request fails and cannot have been processed")
    func noServer() async throws {
        let transport = try CurlTransport(.sample())
        let refused = await error(transport, request("https://127.0.0.1:1"))
        await transport.close()
        #expect(refused?.code == .notReachable)
        #expect(refused?.mayHaveBeenProcessed == false)
        #expect(refused?.description.isEmpty == false)
    }

    @Test("A server with an untrusted certificate is not used")
    func untrustedServer() async throws {
        try await withTLSServer { _ in
            .init(200)
        } _: { server in
            let transport = try CurlTransport(.sample())
            let error = await error(transport, request(server.url))
            await transport.close()
            #expect(error?.code == .tls)
            #expect(error?.mayHaveBeenProcessed == false)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("A request whose answer does not come by its deadline fails")
    func answersThatAreTooLate() async throws {
        try await withTransport { request in
            if request.path == "/slow" { try await Task.sleep(for: .seconds(60)) }
            return .init(200)
        } _: { server, transport in
            _ = try await transport.send(request(server.url))
            // A connection that is silent for a second after the request was sent counts as dead.
            let late = await error(transport, request(server.url, "/slow", within: .seconds(2)))
            #expect(late?.code == .timeout)
            #expect(late?.mayHaveBeenProcessed == true)
            let answer = try await transport.send(request(server.url))
            #expect(answer.status == 200)
            #expect(server.connections == 2)
            // A request that is late from the start is not sent.
            let before = server.requests.count
            let tooLate = await error(transport, request(server.url, within: .seconds(-1)))
            #expect(tooLate?.code == .timeout)
            #expect(tooLate?.mayHaveBeenProcessed == false)
            #expect(server.requests.count == before)
        }
    }

    /// libcurl itself ignores the timeouts of transfers that wait for a stream.
    @Test("A deadline also ends a request that waits for a connection")
    func deadlinesHoldWhileWaitingForAConnection() async throws {
        try await withTransport { _ in
            try await Task.sleep(for: .seconds(60))
            return .init(200)
        } configuration: {
            $0.connectionsPerHost = 1
            $0.streamsPerConnection = 2
        } _: { server, transport in
            let begin = ContinuousClock.now
            let late = request(server.url, within: .milliseconds(400))
            let errors = try await concurrently(10) { _ in await error(transport, late) }
            #expect(errors.allSatisfy { $0?.code == .timeout })
            #expect(ContinuousClock.now - begin < .seconds(50))
            #expect(server.requests.count <= 2)
            #expect(errors.count { $0?.mayHaveBeenProcessed == false } >= 8)
        }
    }

    @Test("A stream that the server resets is a failure")
    func resets() async throws {
        try await withTransport { request in
            switch request.path {
            case "/connection": try await request.dropConnection()
            case "/stream": try await request.resetStream()
            default: break
            }
            return .init(200)
        } _: { server, transport in
            for path in ["/connection", "/stream"] {
                let reset = await error(transport, request(server.url, path))
                #expect(reset?.code == .reset, "\(path): \(String(describing: reset))")
                #expect(reset?.mayHaveBeenProcessed == true)
            }
            let answer = try await transport.send(request(server.url))
            #expect(answer.status == 200)
        }
    }

    @Test("An answer that is too long is a failure")
    func answersThatAreTooLong() async throws {
        let limit = CurlConfiguration.sample().maxBodyBytes
        try await withTransport { request in
            .init(200, String(repeating: "x", count: request.path == "/long" ? limit + 1 : limit))
        } _: { server, transport in
            let tooLong = await error(transport, request(server.url, "/long"))
            #expect(tooLong?.code == .tooLarge)
            #expect(tooLong?.mayHaveBeenProcessed == true)
            let answer = try await transport.send(request(server.url))
            #expect(answer.body.count == limit)
        }
    }

    @Test("A cancelled task abandons its request")
    func cancelledTasksAbandonTheirRequests() async throws {
        try await withTransport { request in
            if request.path == "/slow" { try await Task.sleep(for: .seconds(60)) }
            return .init(200)
        } configuration: {
            $0.connectionsPerHost = 1
            $0.streamsPerConnection = 1
        } _: { server, transport in
            let running = Task { await error(transport, request(server.url, "/slow")) }
            try await eventually { server.requests.count == 1 }
            let waiting = Task { await error(transport, request(server.url, "/never")) }
            waiting.cancel()
            #expect(await waiting.value?.code == .cancelled)
            running.cancel()
            let cancelled = await running.value
            #expect(cancelled?.code == .cancelled)
            #expect(cancelled?.mayHaveBeenProcessed == true)
            // Its slot is free again.
            let answer = try await transport.send(request(server.url))
            #expect(answer.status == 200)
            #expect(!server.requests.contains { $0.path == "/never" })
        }
    }

    @Test("A full queue refuses further requests")
    func aFullQueueRefuses() async throws {
        try await withTransport { _ in
            try await Task.sleep(for: .seconds(60))
            return .init(200)
        } configuration: {
            $0.maxPending = 3
        } _: { server, transport in
            let running = (0..<3).map { _ in Task { await error(transport, request(server.url)) } }
            try await eventually { server.requests.count == 3 }
            let refused = await error(transport, request(server.url))
            #expect(refused?.code == .overloaded)
            #expect(refused?.mayHaveBeenProcessed == false)
            for task in running { task.cancel() }
            for task in running { #expect(await task.value?.code == .cancelled) }
        }
    }

    @Test("Closing the transport fails all waiting requests")
    func closingFailsAllWhoWait() async throws {
        try await withTLSServer { _ in
            try await Task.sleep(for: .seconds(60))
            return .init(200)
        } _: { server in
            let transport = try CurlTransport(
                .sample(trusting: server.certificateFile) {
                    $0.connectionsPerHost = 1
                    $0.streamsPerConnection = 2
                })
            let waiting = (0..<5).map { _ in Task { await error(transport, request(server.url)) } }
            try await eventually { server.requests.count == 2 }
            // Twice at once: both return when it is closed.
            async let first: Void = transport.close()
            async let second: Void = transport.close()
            _ = await (first, second)
            for task in waiting { #expect(await task.value?.code == .stopped) }
            #expect(await error(transport, request(server.url))?.code == .stopped)
            await transport.close()
        }
    }

    @Test("A certificate file that cannot be read is an error")
    func badAuthorityFile() async throws {
        try await withTemporaryFolder { folder in
            let transport = try CurlTransport(.sample(trusting: folder + "/none.pem"))
            let error = await error(transport, request("https://127.0.0.1:1"))
            await transport.close()
            #expect(error != nil)
        }
    }
}
