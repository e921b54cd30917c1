/// Everything that the gateway offers. Each feature has a folder of its own.
struct Features: Sendable {
    let cube: CubeRoutes
    let messages: MessageRoutes
    let health: HealthRoutes
    let problems = ProblemRoutes()

    var routes: [Route] { cube.routes + messages.routes + health.routes + problems.routes }
}
