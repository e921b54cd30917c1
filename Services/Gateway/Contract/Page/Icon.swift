/// The product's icon, for the tabs of browsers: a speech bubble with lines.
enum Icon {
    static let svg = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
        <path d="M6 4h20a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4H14l-7 6v-6H6a4 4 0 0 1-4-4V8a4 4 0 0 1 4-4z" fill="#1f5fd6"/>
        <path d="M8 11h16M8 17h10" stroke="#fff" stroke-width="3" stroke-linecap="round"/>
        </svg>

        """
}
