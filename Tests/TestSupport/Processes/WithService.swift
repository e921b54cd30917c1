package import Testing

/// Runs a test with a service's process, and stops it with SIGTERM afterwards. Its status must be 0, unless the test has ended
/// the process itself.
package func withService<Result>(
    _ name: String, in folder: String, settings: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation, _ body: (ServiceProcess) async throws -> Result
) async throws -> Result {
    let process = try await ServiceProcess(name, in: folder, settings: settings)
    do {
        let result = try await body(process)
        if process.isRunning {
            let status = await process.stop()
            #expect(status == 0, "\(name) said: \(process.log.suffix(2_000))", sourceLocation: sourceLocation)
        }
        return result
    } catch {
        await process.kill()
        throw error
    }
}
